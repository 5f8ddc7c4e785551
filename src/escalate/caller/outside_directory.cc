#include "escalate/caller/outside_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "escalate/caller/caller_view.h"

namespace holdfast::escalate {
namespace {

OrErrno<OwnedFd> OpenDirectory(const std::string& path) {
  OwnedFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return std::unexpected(errno);
  return directory;
}

// Both directories are open, so the number of neither can have gone to another one.
bool AreSame(int one, int other) {
  struct stat here, there;
  return ::fstat(one, &here) == 0 && ::fstat(other, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

}  // namespace

OrErrno<OutsideDirectory> OpenOutsideDirectory(pid_t tid) {
  const auto inside = OpenDirectory(fmt::format("/proc/{}/cwd", tid));
  if (!inside) return std::unexpected(inside.error());
  const auto path = WorkingDirectoryOf(tid);
  if (!path) return std::unexpected(path.error());
  auto outside = OpenDirectory(*path);
  if (!outside || !AreSame(inside->get(), outside->get())) return std::unexpected(ESTALE);
  auto real_path = RealPathOf(outside->get());
  if (!real_path) return std::unexpected(real_path.error());
  return OutsideDirectory{.fd = std::make_shared<const OwnedFd>(*std::move(outside)), .path = *std::move(real_path)};
}

}  // namespace holdfast::escalate
