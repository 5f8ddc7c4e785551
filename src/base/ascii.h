// ASCII letters, converted without regard to the locale of the program.
#pragma once

namespace holdfast {

constexpr char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace holdfast
