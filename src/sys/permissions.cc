#include "sys/permissions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace holdfast::sys {

// The umask system call would change the umask for all threads, so the umask is read from /proc/self/status instead.
mode_t FileModeMask() {
  constexpr mode_t usual = 022;
  std::ifstream account("/proc/self/status");
  for (std::string word; account >> word;) {
    unsigned mask = 0;
    if (word == "Umask:") return account >> std::oct >> mask ? mask : usual;
  }
  return usual;
}

// Only the owner of a file can change its mode, so fchmod is not called for a file that has the permissions already. If
// the owner cannot change the mode, the file system does not store it.
int SetPermissions(int fd, mode_t permissions) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return errno;
  const mode_t wanted = permissions & 0777 & ~FileModeMask();
  if ((status.st_mode & 07777) == wanted) return 0;
  if (::fchmod(fd, wanted) == 0 || (errno == EPERM && status.st_uid == ::geteuid())) return 0;
  return errno;
}

int CheckAccess(int fd, int mode) {
  return ::syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace holdfast::sys
