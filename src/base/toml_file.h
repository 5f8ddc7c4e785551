// Files of settings in TOML, read with bounds: whoever wrote one must not be able to bring the program down by it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/toml.h"

namespace holdfast {

// The text of a file; one that is longer than 1 MiB is refused.
Result<std::string> ReadTomlFile(const std::string& path);

// An error reads `WHAT FILE:LINE: reason`, `what` being a word such as "config".
Result<toml::table> ParseToml(std::string_view text, std::string_view what, std::string_view file_name);

}  // namespace holdfast
