// What the kernel tells of a descriptor of this process in /proc/self/fdinfo: lines of `name:`, a tab and a value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::sys {

Result<std::string> ReadFdInfo(int fd);

// The value of a line that is not the first one; empty when there is no such line.
std::string_view ValueIn(std::string_view fdinfo, std::string_view name);

}  // namespace holdfast::sys
