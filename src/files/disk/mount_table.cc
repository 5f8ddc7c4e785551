#include "files/disk/mount_table.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "sys/io.h"

namespace holdfast::files {

MountTable MountTable::Open() {
  MountTable table;
  table.file_ = OwnedFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  return table;
}

// The kernel tells of a change once, to each opener of the table.
bool MountTable::IsUnchanged() const {
  pollfd change{.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return file_.is_open() && ::poll(&change, 1, 0) == 0;
}

std::string MountTable::Text() const {
  std::string text;
  if (!file_.is_open() || ::lseek(file_.get(), 0, SEEK_SET) < 0) return text;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = sys::Read(file_.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

}  // namespace holdfast::files
