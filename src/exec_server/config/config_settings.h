// The table of settings. The file reader, the flags and PrintConfig all walk it, so a setting is added in two places: a
// member of Config with its default, and a line here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "exec_server/config/config.h"

namespace holdfast::exec_server {

struct Toggle {
  bool Config::* member;
};

struct Number {
  uint64_t Config::* member;
  uint64_t min, max;
};

struct Text {
  std::string Config::* member;
  std::string_view choices = {};  // "a|b|c"; empty: any text
};

struct Setting {
  std::string_view key;
  std::variant<Toggle, Number, Text> kind;
  std::string_view help;
};

std::span<const Setting> Settings();

std::string FlagName(const Setting& setting);  // "--max-sessions"
std::string HelpText(const Setting& setting);  // the help, and the range or the choices

// A value as the operator wrote it, before it is known to fit.
struct OtherType {
  std::string_view name;  // "a table": something that no setting takes
};
using SettingValue = std::variant<bool, int64_t, std::string, OtherType>;

// Checks type and range. The message is the bare reason: the caller knows the place.
Result<> Assign(const Setting& setting, const SettingValue& value, Config& config);

// The value in TOML notation.
std::string TomlValue(const Setting& setting, const Config& config);

}  // namespace holdfast::exec_server
