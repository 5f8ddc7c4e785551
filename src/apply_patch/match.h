// The new content of a file, computed from its old content and the chunks of an update, without access to the disk.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply_patch/patch.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// The content of a file as lines. A line ends at LF, CRLF or a lone CR.
class FileLines {
 public:
  // `content` must outlive this object.
  explicit FileLines(std::string_view content);

  size_t size() const { return texts_.size(); }
  const std::vector<std::string_view>& texts() const { return texts_; }  // without their ends
  std::string_view line_end() const { return line_end_; }                // the first line end; LF if there is none

  // Appends a line with its own line end. If the last line of the file has none, it gets line_end().
  void AppendTo(std::string& out, size_t line) const;

 private:
  std::string_view content_;
  std::string_view line_end_;
  // Only the texts are stored. A line end is found as the bytes between two texts, which saves half of the memory.
  std::vector<std::string_view> texts_;
};

// Returns the content with all chunks applied. The chunks must occur in the file in their order, and each is searched
// in the original lines. Lines that stay keep their bytes, even if a context line of the patch differs from them. Added
// lines get the same line end as the first line of the file.
Result<std::string> ApplyChunks(std::string_view content, std::span<const Chunk> chunks);

}  // namespace holdfast::apply_patch
