// The command line of the server has one flag for each setting, and --config and --print-config. The file overrides the
// defaults, and the flags override the file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/config/config_settings.h"

namespace holdfast::exec_server {

inline constexpr std::string_view kConfigFlag = "--config", kPrintConfigFlag = "--print-config";

// A function that returns the value of a flag as it stands on the command line, or nothing if the flag is not there. A
// toggle without a value has the value "true".
using FlagValue = std::function<std::optional<std::string>(std::string_view flag)>;

Result<Config> LoadConfig(const FlagValue& flag_value);

// Returns the default of a setting as a user would write it.
std::string DefaultText(const Setting& setting);

}  // namespace holdfast::exec_server
