#include "exec_server/config/config_flags.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "exec_server/config/config_file.h"

namespace holdfast::exec_server {
namespace {

// Converts the text of a flag to the type of its setting. Text that does not have this type is returned as it is, and
// Assign then fails with a message about it.
SettingValue ValueOf(const Setting& setting, const std::string& word) {
  if (std::holds_alternative<Toggle>(setting.kind) && (word == "true" || word == "false")) return word == "true";
  if (std::holds_alternative<Number>(setting.kind)) {
    if (const auto number = ParseNumber<int64_t>(word)) return *number;
  }
  return word;
}

Result<Config> LoadFile(const FlagValue& flag_value) {
  const auto file = flag_value(kConfigFlag);
  if (!file) return Config{};
  return LoadConfigFile(*file, Config{});
}

}  // namespace

std::string DefaultText(const Setting& setting) {
  static const Config defaults;
  if (const auto* text = std::get_if<Text>(&setting.kind)) return defaults.*text->member;
  return TomlValue(setting, defaults);
}

Result<Config> LoadConfig(const FlagValue& flag_value) {
  TRY(Config config, LoadFile(flag_value));
  for (const Setting& setting : Settings()) {
    const std::string flag = FlagName(setting);
    const auto word = flag_value(flag);
    if (!word) continue;
    const Result<> assigned = Assign(setting, ValueOf(setting, *word), config);
    if (!assigned) return Fail(ErrorKind::kInvalidParams, fmt::format("{}: {}", flag, assigned.error().message));
  }
  return config;
}

}  // namespace holdfast::exec_server
