#include "sys/mount_changes.h"

#include <fcntl.h>
#include <poll.h>

namespace holdfast::sys {

MountChanges::MountChanges() : mounts_(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)) {}

// The kernel keeps the state of the mounts at the last poll with the open file. A poll costs a microsecond, and unlike
// an event of the loop it cannot come too late for a start.
uint64_t MountChanges::Count() {
  pollfd look = {.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
  const int ready = ::poll(&look, 1, 0);
  if (!mounts_.is_open() || ready < 0 || (look.revents & (POLLPRI | POLLERR | POLLNVAL)) != 0) ++count_;
  return count_;
}

}  // namespace holdfast::sys
