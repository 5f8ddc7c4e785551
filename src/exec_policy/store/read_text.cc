#include "exec_policy/store/read_text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "exec_policy/starlark/limits.h"
#include "sys/io.h"

namespace holdfast::exec_policy {

Result<std::string> ReadText(int fd, const std::string& path) {
  constexpr size_t piece = size_t{64} << 10, max_bytes = Limits{}.text_bytes;
  std::string text;
  for (;;) {
    const size_t before = text.size();
    ssize_t n = 0;
    text.resize_and_overwrite(before + piece, [&](char* buffer, size_t) {
      n = sys::Read(fd, buffer + before, piece);
      return before + static_cast<size_t>(std::max<ssize_t>(n, 0));
    });
    if (n < 0) return FailErrno("read", path, static_cast<int>(-n));
    if (n == 0) return text;
    if (text.size() > max_bytes) {
      return Fail(ErrorKind::kLimit, fmt::format("{} has more than {} MiB", path, max_bytes >> 20));
    }
  }
}

}  // namespace holdfast::exec_policy
