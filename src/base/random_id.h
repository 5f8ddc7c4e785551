// Identifiers nobody can guess.
#pragma once

#include <string>

namespace holdfast {

// A version 4 UUID in its lower-case text form; all 122 random bits come from the kernel.
std::string RandomUuid();

}  // namespace holdfast
