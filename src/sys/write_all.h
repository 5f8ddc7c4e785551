// Writes to descriptors that may take less than they are given.
#pragma once

#include <string_view>

namespace holdfast::sys {

// Writes all bytes to a blocking descriptor, and waits for a slow reader. Returns 0, or the errno of the write that
// failed, behind which nothing more is written.
int WriteAll(int fd, std::string_view bytes);

}  // namespace holdfast::sys
