// The envelope of a patch: the lines `*** Begin Patch` and `*** End Patch` around its operations, and the lines of a
// shell heredoc that may be around these.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace holdfast::apply_patch {

// A reader of lines, one after the other. A list of all lines could take too much memory. Up to two carriage returns at
// the end of a line are not part of it.
class LineReader {
 public:
  // Every line of `text` ends in a line feed.
  LineReader(std::string_view text, size_t first_number) : rest_(text), number_(first_number) {}

  std::optional<std::string_view> Peek() const;
  void Pop();

  size_t number() const { return number_; }  // the number of the line that Peek returns

 private:
  std::string_view rest_;
  size_t number_;
};

// Returns a reader of the lines between the first and the last line of the envelope. `text` must be UTF-8.
Result<LineReader> OpenEnvelope(std::string_view text);

}  // namespace holdfast::apply_patch
