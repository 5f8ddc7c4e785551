#include "sandbox/input_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>

#include "base/owned_fd.h"

namespace holdfast::sandbox {
namespace {

std::string NameOf(int fd) {
  std::array<char, PATH_MAX> name;
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name.data(), name.size());
  return size > 0 && size < PATH_MAX ? std::string(name.data(), static_cast<size_t>(size)) : "";
}

bool IsInputFile(int fd, const struct stat& status) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY && S_ISREG(status.st_mode);
}

void Reopen(int fd) {
  struct stat before, now;
  if (::fstat(fd, &before) < 0 || !IsInputFile(fd, before)) return;
  const OwnedFd again(::open(NameOf(fd).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!again.is_open() || ::fstat(again.get(), &now) < 0) return;
  if (now.st_dev != before.st_dev || now.st_ino != before.st_ino) return;
  const off_t offset = ::lseek(fd, 0, SEEK_CUR);
  if (offset < 0 || ::lseek(again.get(), offset, SEEK_SET) != offset) return;
  ::fcntl(again.get(), F_SETFL, ::fcntl(fd, F_GETFL));
  ::dup2(again.get(), fd);
}

}  // namespace

void ReopenInputFiles() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) Reopen(fd);
}

}  // namespace holdfast::sandbox
