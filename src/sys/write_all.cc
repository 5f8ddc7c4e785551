#include "sys/write_all.h"

#include "sys/io.h"

namespace holdfast::sys {

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = Write(fd, bytes.data(), bytes.size());
    if (n < 0) return static_cast<int>(-n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace holdfast::sys
