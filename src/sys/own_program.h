// The file that this process has executed.
#pragma once

#include <string>

namespace holdfast::sys {

// Empty when it is not known, as without /proc.
std::string OwnProgram();

// The directory of it, likewise.
std::string OwnDirectory();

}  // namespace holdfast::sys
