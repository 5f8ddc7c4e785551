#include "sys/kept_status.h"

#include "sys/exit_status.h"
#include "sys/pidfd.h"
#include "sys/spawn.h"

namespace holdfast::sys {

bool KeepsExitStatus() {
  constexpr int code = 42;
  constexpr size_t stack_bytes = 16 << 10;
  auto body = [] { return code; };
  const auto child = Spawn(Sharing::kMemory, body, stack_bytes);
  if (!child) return false;
  const auto pidfd = OpenPidfd(*child);
  const int status = AwaitStatus(*child);
  return pidfd && raw::StatusAfterReaping(pidfd->get()) == status;
}

}  // namespace holdfast::sys
