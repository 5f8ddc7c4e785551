#include "exec_server/config.h"

#include <iterator>

#include <fmt/format.h>

#include "exec_server/config_settings.h"

namespace holdfast::exec_server {

std::string PrintConfig(const Config& config) {
  std::string toml;
  for (const Setting& setting : Settings()) {
    const std::string assignment = fmt::format("{} = {}", setting.key, TomlValue(setting, config));
    fmt::format_to(std::back_inserter(toml), "{:<44}  # {}\n", assignment, HelpText(setting));
  }
  return toml;
}

}  // namespace holdfast::exec_server
