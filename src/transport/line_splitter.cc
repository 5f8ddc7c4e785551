#include "transport/line_splitter.h"

#include <algorithm>
#include <utility>

namespace holdfast::transport {
namespace {

constexpr size_t kKeptBufferBytes = 8u << 10;
constexpr std::string_view kWhitespace = " \t\r\n\v\f";

}  // namespace

void LineSplitter::Append(std::string_view bytes) {
  ForgetConsumed();
  buffer_.append(bytes);
}

size_t LineSplitter::GrownSize(size_t bytes) const {
  const size_t needed = buffer_.size() - consumed_ + bytes;
  return needed <= buffer_.capacity() ? buffer_.capacity() : std::max(needed, 2 * buffer_.capacity());
}

std::optional<std::string_view> LineSplitter::Next() {
  while (!overlong_) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) break;
    const std::string_view line = std::string_view(buffer_).substr(consumed_, newline - consumed_);
    consumed_ = scanned_ = newline + 1;
    if (std::exchange(skipping_, false)) continue;
    if (auto message = Accept(line)) return message;
  }
  scanned_ = buffer_.size();
  const auto unfinished = OnUnfinishedLine();
  if (buffer_.size() - consumed_ <= kKeptBufferBytes) ForgetConsumed();
  return unfinished;
}

std::optional<std::string_view> LineSplitter::OnUnfinishedLine() {
  const bool is_long = buffer_.size() - consumed_ > max_line_bytes_;
  if (!is_long && !skipping_) return std::nullopt;
  if (long_lines_ == LongLines::kSkip) consumed_ = buffer_.size();
  return std::exchange(skipping_, long_lines_ == LongLines::kSkip) ? std::nullopt : OnLongLine();
}

std::optional<std::string_view> LineSplitter::OnLongLine() {
  if (long_lines_ == LongLines::kSkip) return std::string_view();
  overlong_ = true;
  return std::nullopt;
}

std::optional<std::string_view> LineSplitter::Last() {
  const std::string_view line = std::string_view(buffer_).substr(consumed_);
  consumed_ = scanned_ = buffer_.size();
  return skipping_ ? std::nullopt : Accept(line);
}

std::optional<std::string_view> LineSplitter::Accept(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > max_line_bytes_) return OnLongLine();
  if (overlong_ || line.find_first_not_of(kWhitespace) == std::string_view::npos) return std::nullopt;
  return line;
}

// The memory of a long line is freed after it, so that a connection that is idle, or has only a few bytes of the next
// line, does not keep it.
void LineSplitter::ForgetConsumed() {
  if (consumed_ > 0 && buffer_.size() - consumed_ <= kKeptBufferBytes && buffer_.capacity() > kKeptBufferBytes) {
    std::string(buffer_, consumed_).swap(buffer_);
  } else {
    buffer_.erase(0, consumed_);
  }
  scanned_ -= std::min(scanned_, consumed_);
  consumed_ = 0;
}

}  // namespace holdfast::transport
