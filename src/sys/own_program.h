// The program file that this process has executed.
#pragma once

#include <string>

namespace holdfast::sys {

// Returns the path of the program; empty if it is not known, as without /proc.
std::string OwnProgram();

// Returns the directory of the program; empty if it is not known.
std::string OwnDirectory();

}  // namespace holdfast::sys
