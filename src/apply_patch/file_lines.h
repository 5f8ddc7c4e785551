// The content of a file as lines. A line ends at LF, CRLF or a lone CR.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::apply_patch {

class FileLines {
 public:
  // `content` outlives this.
  explicit FileLines(std::string_view content);

  size_t size() const { return texts_.size(); }
  const std::vector<std::string_view>& texts() const { return texts_; }  // without their ends
  std::string_view line_end() const { return line_end_; }                // the first line end; LF if there is none

  // Appends a line with its own end. The last line of a file may lack one: it gets line_end().
  void AppendTo(std::string& out, size_t line) const;

 private:
  std::string_view content_;
  std::string_view line_end_;
  // The ends are what lies between two texts: half the memory of storing both.
  std::vector<std::string_view> texts_;
};

}  // namespace holdfast::apply_patch
