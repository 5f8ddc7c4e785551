// Functions that read what the kernel shows about a descriptor of this process in /proc/self/fdinfo: lines with a name,
// a colon, a tab and a value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::sys {

Result<std::string> ReadFdInfo(int fd);

// Returns the value of a line other than the first one; empty if there is no such line.
std::string_view ValueIn(std::string_view fdinfo, std::string_view name);

}  // namespace holdfast::sys
