// The settings as a TOML file.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_server/config/config.h"

namespace holdfast::exec_server {

// Reads TOML over `base`: what the file leaves out stays as it is. Errors name the file, the line and the key.
Result<Config> LoadConfigFile(const std::string& path, Config base);
Result<Config> ParseConfig(std::string_view toml, std::string_view file_name, Config base);

// TOML that LoadConfigFile reads back to an equal Config: one line per setting, its help behind it.
std::string PrintConfig(const Config& config);

}  // namespace holdfast::exec_server
