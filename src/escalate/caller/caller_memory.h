// The memory of a process that calls execve: its path, its arguments and its environment, copied once with the limits
// that the kernel has. The process is not trusted. Another thread of it may change the memory at any time, so only the
// copy counts.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

inline constexpr size_t kMaxArgumentBytes = 128 << 10;  // MAX_ARG_STRLEN: one string with its NUL
inline constexpr size_t kMaxExecBytes = 6 << 20;        // arguments and variables with their pointers, all together

class CallerMemory {
 public:
  explicit CallerMemory(pid_t tid);

  // Returns a path. Fails with ENAMETOOLONG as execve does.
  OrErrno<std::string> ReadPath(uint64_t address);

  // Returns the strings of an array that ends with a null pointer; none if the address of the array is 0. `room` is the
  // number of bytes that they may take, and is reduced by what they take. Fails with E2BIG beyond a limit.
  OrErrno<std::vector<std::string>> ReadStrings(uint64_t array, size_t& room);

 private:
  static constexpr size_t kPageBytes = 4096, kPages = 8;

  struct Page {
    uint64_t base;
    std::array<char, kPageBytes> bytes;
  };

  static constexpr uint64_t kNoPage = 1;

  OrErrno<const Page*> ReadPage(uint64_t base);
  OrErrno<std::span<const char>> BytesFrom(uint64_t address);
  OrErrno<std::string> ReadString(uint64_t address, size_t max_bytes, int too_long);
  OrErrno<uint64_t> ReadPointer(uint64_t address);

  const pid_t tid_;
  // The pages that were read last. Arguments usually lie side by side, and each page costs a system call.
  std::unique_ptr<std::array<Page, kPages>> pages_;
  size_t page_count_ = 0, next_page_ = 0;
};

}  // namespace holdfast::escalate
