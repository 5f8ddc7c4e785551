// Reading and parsing of settings in TOML. The size and the depth are bounded, so that a file cannot crash the program.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/toml.h"

namespace holdfast {

// Returns the text of a file, and refuses a file that is longer than 1 MiB.
Result<std::string> ReadTomlFile(const std::string& path);

// Parses the text of a file. An error has the form `WHAT FILE:LINE: reason`, where `what` is a word such as "config".
Result<toml::table> ParseToml(std::string_view text, std::string_view what, std::string_view file_name);

}  // namespace holdfast
