// What is around the operations of a patch: `*** Begin Patch`, `*** End Patch`, and a heredoc around these.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace holdfast::apply_patch {

// Lines, read one after the other: a patch may have more of them than it would be wise to list. A carriage return at
// the end of a line is not part of it, nor is a second one before it.
class LineReader {
 public:
  // Every line of `text` ends in a line feed.
  LineReader(std::string_view text, size_t first_number) : rest_(text), number_(first_number) {}

  std::optional<std::string_view> Peek() const;
  void Pop();

  size_t number() const { return number_; }  // of the line that Peek gives

 private:
  std::string_view rest_;
  size_t number_;
};

// The lines between the first and the last line of the envelope. `text` is UTF-8.
Result<LineReader> OpenEnvelope(std::string_view text);

}  // namespace holdfast::apply_patch
