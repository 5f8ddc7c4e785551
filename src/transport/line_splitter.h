// Cuts a byte stream into messages, one per line. Blank lines are no messages; a CR before the newline belongs to it.
// Pure: the connection feeds it and decides when to read on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::transport {

class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  void Append(std::string_view bytes);

  // The next complete line. The view is valid until the next call.
  std::optional<std::string_view> Next();

  // What stands behind the last newline: at the end of the input it counts as a line.
  std::optional<std::string_view> Last();

  // What it will take up after `bytes` more are appended.
  size_t GrownSize(size_t bytes) const;

  // A line is longer than the limit: there is no way to find back into the stream.
  bool overlong() const { return overlong_; }

 private:
  std::optional<std::string_view> Accept(std::string_view line);
  void ForgetConsumed();

  const size_t max_line_bytes_;
  std::string buffer_;
  size_t consumed_ = 0;  // bytes of lines already handed out
  size_t scanned_ = 0;   // no newline stands between consumed_ and here
  bool overlong_ = false;
};

}  // namespace holdfast::transport
