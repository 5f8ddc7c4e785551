// What the commands of holdfast print to standard error when something went wrong.
#pragma once

#include <string_view>

namespace holdfast::cli {

// Prints `WHO: message` as one line to standard error. The message may contain names and words of others, so it is
// shown by ShownText; a line break in it becomes a blank. It may be printed while
// the terminal is in raw mode.
void PrintComplaint(std::string_view who, std::string_view message);

}  // namespace holdfast::cli
