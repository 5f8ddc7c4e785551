// The mode of a file that is written for somebody: a copy, or what replaces another one.
#pragma once

#include <sys/types.h>

namespace holdfast::files {

// 0, or an errno. A sandbox refuses files set-user-ID and set-group-ID: there the file goes without them, as it would
// if it were written by hand.
int SetMode(int fd, mode_t mode);

}  // namespace holdfast::files
