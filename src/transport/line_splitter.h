// A LineSplitter cuts a byte stream into messages, one per line. A blank line is not a message, and a CR before the
// newline belongs to the newline. The splitter does no I/O: the connection appends bytes to it and decides when to read
// more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::transport {

// The treatment of a line that is longer than the limit.
enum class LongLines {
  kEnd,   // no further line is returned
  kSkip,  // the line is discarded up to its end, and an empty one is returned in its place; no other line is empty
};

class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes, LongLines long_lines = LongLines::kEnd)
      : max_line_bytes_(max_line_bytes), long_lines_(long_lines) {}

  void Append(std::string_view bytes);

  // Returns the next complete line. The view is valid until the next call.
  std::optional<std::string_view> Next();

  // Returns the text after the last newline, which counts as a line at the end of the input.
  std::optional<std::string_view> Last();

  // The memory that the splitter will occupy after `bytes` more bytes are appended.
  size_t GrownSize(size_t bytes) const;

  // A line was longer than the limit, and with kEnd the splitter returns no further lines, because it does not look for
  // the end of that line.
  bool overlong() const { return overlong_; }

 private:
  std::optional<std::string_view> Accept(std::string_view line);
  std::optional<std::string_view> OnUnfinishedLine();
  std::optional<std::string_view> OnLongLine();
  void ForgetConsumed();

  const size_t max_line_bytes_;
  const LongLines long_lines_;
  std::string buffer_;
  size_t consumed_ = 0;  // bytes of lines that Next has returned
  size_t scanned_ = 0;   // there is no newline between consumed_ and here
  bool overlong_ = false;
  bool skipping_ = false;  // the rest of a long line is still to come
};

}  // namespace holdfast::transport
