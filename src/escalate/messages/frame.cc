#include "escalate/messages/frame.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace holdfast::escalate {
namespace {

constexpr size_t kReadBytes = 64 << 10;

}  // namespace

std::string FrameOf(std::string_view text) {
  CHECK(text.size() <= kMaxFrameBytes);
  std::string frame;
  frame.reserve(text.size() + 4);
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(text.size() >> shift & 0xff);
  return frame.append(text);
}

size_t FrameReader::wanted() const {
  if (header_size_ < kHeaderBytes) return kHeaderBytes - header_size_;
  return std::min(text_size_ - frame_.text.size(), kReadBytes);
}

Result<std::optional<Frame>> FrameReader::Add(std::string_view bytes, std::vector<sys::ForeignFd> fds) {
  CHECK(!bytes.empty() && bytes.size() <= wanted());
  if (!fds.empty()) {
    if (header_size_ > 0) return Fail(ErrorKind::kInvalidRequest, "descriptors came in the middle of a frame");
    frame_.fds = std::move(fds);
  }
  if (header_size_ < kHeaderBytes) {
    std::ranges::copy(bytes, header_.begin() + static_cast<ptrdiff_t>(header_size_));
    header_size_ += bytes.size();
    if (header_size_ < kHeaderBytes) return std::nullopt;
    text_size_ = 0;
    for (size_t i = kHeaderBytes; i-- > 0;) text_size_ = text_size_ << 8 | header_[i];
    if (text_size_ > max_bytes_) {
      return Fail(ErrorKind::kLimit, fmt::format("a frame of {} bytes is too long", text_size_));
    }
  } else {
    frame_.text.append(bytes);
  }
  if (frame_.text.size() < text_size_) return std::nullopt;
  header_size_ = 0;
  return std::exchange(frame_, {});
}

}  // namespace holdfast::escalate
