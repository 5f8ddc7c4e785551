#include "sys/read_to_end.h"

#include <algorithm>

#include <fmt/format.h>

#include "sys/io.h"

namespace holdfast::sys {

Result<std::string> ReadToEnd(int fd, size_t max_bytes, const std::string& name) {
  constexpr size_t piece = size_t{64} << 10;
  std::string text;
  for (;;) {
    const size_t before = text.size();
    ssize_t n = 0;
    text.resize_and_overwrite(before + piece, [&](char* buffer, size_t) {
      n = Read(fd, buffer + before, piece);
      return before + static_cast<size_t>(std::max<ssize_t>(n, 0));
    });
    if (n < 0) return FailErrno("read", name, static_cast<int>(-n));
    if (n == 0) return text;
    if (text.size() > max_bytes) {
      return Fail(ErrorKind::kLimit, fmt::format("{} has more than {} MiB", name, max_bytes >> 20));
    }
  }
}

}  // namespace holdfast::sys
