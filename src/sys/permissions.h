// The permissions of files, and the umask, which limits them.
#pragma once

#include <sys/types.h>

namespace holdfast::sys {

// Returns the umask of this process, or 022 where /proc does not show it.
mode_t FileModeMask();

// Gives an open file these permissions without the bits of the umask, as if it had been created with them. Set-user-ID,
// set-group-ID and sticky bits are not set, and are removed from a file that has them. On a file
// system without permissions, such as vfat, the file stays as it is. Returns 0 or an errno.
int SetPermissions(int fd, mode_t permissions);

// Returns whether this process may use an open file in the way `mode`, which is R_OK, W_OK or X_OK: 0, or the errno of
// the refusal. It is ENOSYS or EINVAL before Linux 5.8, which cannot report it.
int CheckAccess(int fd, int mode);

}  // namespace holdfast::sys
