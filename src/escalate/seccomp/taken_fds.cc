#include "escalate/seccomp/taken_fds.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sys/directory.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {

OrErrno<std::vector<PassedFd>> TakeDescriptors(pid_t process, int pidfd, int except) {
  const sys::DirectoryStream listing(::opendir(fmt::format("/proc/{}/fd", process).c_str()));
  if (listing == nullptr) return std::unexpected(errno);
  std::vector<PassedFd> taken;
  while (const dirent* const entry = ::readdir(listing.get())) {
    const auto number = ParseNumber<int>(entry->d_name);
    if (!number || *number == except) continue;
    if (taken.size() == kMaxTakenFds) return std::unexpected(EMFILE);
    if (!sys::HasRoomForForeignFds()) return std::unexpected(EAGAIN);
    sys::ForeignFd fd = sys::TakeFd(pidfd, *number);
    if (!fd.is_open()) return std::unexpected(errno);
    taken.push_back({.number = *number, .fd = std::move(fd)});
  }
  return taken;
}

}  // namespace holdfast::escalate
