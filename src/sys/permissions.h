// The permissions of files, and the umask, which limits them.
#pragma once

#include <sys/types.h>

namespace holdfast::sys {

// Returns the umask of this process, or 022 where /proc does not tell it.
mode_t FileModeMask();

// Gives an open file these permissions without the bits of the umask, as if it had been created with them. Set-user-ID,
// set-group-ID and sticky bits are not set, and are removed from a file that has them. On a file
// system without permissions, such as vfat, the file stays as it is. Returns 0 or an errno.
int SetPermissions(int fd, mode_t permissions);

}  // namespace holdfast::sys
