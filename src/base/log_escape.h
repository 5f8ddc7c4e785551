// Functions that append a value of unknown origin to a log line, so that the value cannot be mistaken for anything
// else.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// Appends `value` as a JSON string with its quotes. Control characters and those that ShownText escapes are escaped; a
// byte that is not UTF-8 becomes U+FFFD. A long value is cut, and ends in "...".
void AppendQuoted(std::string& line, std::string_view value);

// Appends `value` without quotes if it is one printable ASCII word without special characters, and quoted otherwise.
void AppendWord(std::string& line, std::string_view value);

}  // namespace holdfast
