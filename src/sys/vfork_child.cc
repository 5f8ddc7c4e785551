#include "sys/vfork_child.h"

#include <sched.h>

#include <cerrno>
#include <csignal>
#include <memory>

namespace holdfast::sys {

Result<pid_t> StartOnSharedMemory(int (*body)(void*), void* argument, size_t stack_size, Descriptors descriptors) {
  constexpr size_t alignment = 16;  // of the ABI
  const size_t size = (stack_size + alignment - 1) / alignment * alignment;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(size);
  const int sharing = CLONE_VM | (descriptors == Descriptors::kShared ? CLONE_FILES : 0);
  const pid_t child = ::clone(body, stack.get() + size, sharing | CLONE_VFORK | SIGCHLD, argument);
  if (child < 0) return std::unexpected(ErrnoError("clone", "", errno));
  return child;
}

}  // namespace holdfast::sys
