#include "sandbox/passed_text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxTextBytes = 16 << 20;
constexpr size_t kPieceBytes = 64 << 10;

}  // namespace

Result<std::string> ReadPassedText(int fd) {
  const OwnedFd passed(fd);
  std::string text;
  for (;;) {
    const size_t before = text.size();
    text.resize(before + kPieceBytes);
    const ssize_t n = sys::Read(fd, text.data() + before, kPieceBytes);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0) return std::unexpected(ErrnoError("read", fmt::format("descriptor {}", fd), static_cast<int>(-n)));
    if (n == 0) return text;
    if (text.size() > kMaxTextBytes) return Fail(ErrorKind::kLimit, fmt::format("descriptor {}: too long", fd));
  }
}

}  // namespace holdfast::sandbox
