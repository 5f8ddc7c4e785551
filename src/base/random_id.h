// Identifiers nobody can guess.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// A version 4 UUID in its lower-case text form; all 122 random bits come from the kernel.
std::string RandomUuid();

// 192 random bits in hexadecimal digits: a word that opens something to all who know it.
std::string RandomSecret();

// The time that the comparison takes says nothing about where the two differ.
bool IsSameSecret(std::string_view given, std::string_view expected);

}  // namespace holdfast
