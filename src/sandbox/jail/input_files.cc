#include "sandbox/jail/input_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/file_identity.h"
#include "sys/read_link.h"

namespace holdfast::sandbox {
namespace {

std::string NameOf(int fd) { return sys::ReadLink(fmt::format("/proc/self/fd/{}", fd)).value_or(""); }

bool IsInputFile(int fd, const struct stat& status) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY && S_ISREG(status.st_mode);
}

// Returns the name of a device that is in every /dev, and null for other devices such as terminals.
const char* NodeOf(const struct stat& status) {
  constexpr unsigned memory_devices = 1;
  if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != memory_devices) return nullptr;
  switch (minor(status.st_rdev)) {
    case 3:
      return "/dev/null";
    case 5:
      return "/dev/zero";
    case 7:
      return "/dev/full";
    case 8:
      return "/dev/random";
    case 9:
      return "/dev/urandom";
    default:
      return nullptr;
  }
}

Result<> ReopenDevice(int fd, const char* node, dev_t device) {
  const int flags = ::fcntl(fd, F_GETFL);
  const OwnedFd again(::open(node, (flags & (O_ACCMODE | O_PATH)) | O_CLOEXEC));
  struct stat status;
  if (!again.is_open() || ::fstat(again.get(), &status) < 0) return FailErrno("open", node);
  if (!S_ISCHR(status.st_mode) || status.st_rdev != device) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("{} is not the device that a standard stream has open", node));
  }
  (void)::fcntl(again.get(), F_SETFL, flags);  // fails for a descriptor that was opened with O_PATH
  if (::dup2(again.get(), fd) < 0) return FailErrno("dup2", node);
  return {};
}

void ReopenInput(int fd, const struct stat& before) {
  struct stat now;
  if (!IsInputFile(fd, before)) return;
  const OwnedFd again(::open(NameOf(fd).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!again.is_open() || ::fstat(again.get(), &now) < 0) return;
  if (!sys::IsSameFile(now, before)) return;
  const off_t offset = ::lseek(fd, 0, SEEK_CUR);
  if (offset < 0 || ::lseek(again.get(), offset, SEEK_SET) != offset) return;
  ::fcntl(again.get(), F_SETFL, ::fcntl(fd, F_GETFL));
  ::dup2(again.get(), fd);
}

}  // namespace

Result<> ReopenStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status;
    if (::fstat(fd, &status) < 0) continue;
    if (const char* const node = NodeOf(status)) {
      TRY_VOID(ReopenDevice(fd, node, status.st_rdev));
    } else {
      ReopenInput(fd, status);
    }
  }
  return {};
}

}  // namespace holdfast::sandbox
