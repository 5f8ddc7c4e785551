// Sets the mode of a file that copies or replaces another one.
#pragma once

#include <sys/types.h>

namespace holdfast::files {

// Returns 0 or an errno. A sandbox does not allow files with set-user-ID or set-group-ID bits. There the file gets the
// mode without these bits, as if a command in the sandbox had written it.
int SetMode(int fd, mode_t mode);

}  // namespace holdfast::files
