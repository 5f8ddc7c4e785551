#include "exec_server/config/config_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/toml_file.h"
#include "exec_server/config/config_settings.h"

namespace holdfast::exec_server {
namespace {

std::unexpected<Error> BadConfig(std::string_view file, toml::source_position at, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("config {}:{}: {}", file, at.line, reason));
}

std::string_view TypeName(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::floating_point:
      return "a fraction";
    default:
      return "a date or time";
  }
}

SettingValue ValueOf(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  return OtherType{TypeName(node.type())};
}

Result<> AssignEntry(std::string_view file, const toml::key& key, const toml::node& node, Config& config) {
  const auto setting = std::ranges::find(Settings(), key.str(), &Setting::key);
  if (setting == Settings().end()) {
    return BadConfig(file, key.source().begin, fmt::format("unknown key \"{}\"", key.str()));
  }
  if (const Result<> assigned = Assign(*setting, ValueOf(node), config); !assigned) {
    return BadConfig(file, key.source().begin, fmt::format("{}: {}", key.str(), assigned.error().message));
  }
  return {};
}

}  // namespace

Result<Config> ParseConfig(std::string_view toml, std::string_view file_name, Config base) {
  TRY(const toml::table table, ParseToml(toml, "config", file_name));
  for (const auto& [key, node] : table) TRY_VOID(AssignEntry(file_name, key, node, base));
  return base;
}

Result<Config> LoadConfigFile(const std::string& path, Config base) {
  TRY(const std::string toml, ReadTomlFile(path));
  return ParseConfig(toml, path, std::move(base));
}

std::string PrintConfig(const Config& config) {
  std::string toml;
  for (const Setting& setting : Settings()) {
    const std::string assignment = fmt::format("{} = {}", setting.key, TomlValue(setting, config));
    toml += fmt::format("{:<44}  # {}\n", assignment, HelpText(setting));
  }
  return toml;
}

}  // namespace holdfast::exec_server
