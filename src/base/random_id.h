// Identifiers and secrets that cannot be guessed.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// Returns a version 4 UUID in its lower-case text form. All its 122 random bits come from the kernel.
std::string RandomUuid();

// Returns 192 random bits in hexadecimal digits, for use as a password.
std::string RandomSecret();

// Returns whether two secrets are equal. The time that the comparison takes does not depend on where they differ.
bool IsSameSecret(std::string_view given, std::string_view expected);

}  // namespace holdfast
