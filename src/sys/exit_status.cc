#include "sys/exit_status.h"

#include <sys/wait.h>

#include <cerrno>

#include "sys/pidfd.h"
#include "sys/vfork_child.h"

namespace holdfast::sys {

bool KeepsExitStatus() {
  constexpr int code = 42;
  constexpr size_t stack_size = 16 << 10;
  auto body = [] { return code; };
  const auto child = StartOnSharedMemory(body, stack_size);
  if (!child) return false;
  const auto pidfd = OpenPidfd(*child);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) continue;
  return pidfd && raw::StatusAfterReaping(pidfd->get()) == status;
}

}  // namespace holdfast::sys
