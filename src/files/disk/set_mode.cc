#include "files/disk/set_mode.h"

#include <sys/stat.h>

#include <cerrno>

namespace holdfast::files {

int SetMode(int fd, mode_t mode) {
  constexpr mode_t set_ids = S_ISUID | S_ISGID;
  if (::fchmod(fd, mode) == 0) return 0;
  if (errno != EPERM || (mode & set_ids) == 0) return errno;
  return ::fchmod(fd, mode & ~set_ids) == 0 ? 0 : errno;
}

}  // namespace holdfast::files
