// These functions read the settings from a TOML file, and print them in the same format.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_server/config/config.h"

namespace holdfast::exec_server {

// Returns `base` with the settings that the TOML text has; all others stay as they are. Errors name the file, the line
// and the key.
Result<Config> LoadConfigFile(const std::string& path, Config base);
Result<Config> ParseConfig(std::string_view toml, std::string_view file_name, Config base);

// Returns TOML text with one line for each setting, followed by its help text as a comment. LoadConfigFile reads an
// equal Config from it.
std::string PrintConfig(const Config& config);

}  // namespace holdfast::exec_server
