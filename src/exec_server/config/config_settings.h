// The table of settings. The file reader, the flags and PrintConfig all use this table, so a setting is added in two
// places: as a member of Config with its default, and as a line of the table in config_settings.cc.
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
  std::string_view choices = {};  // such as "a|b|c"; if empty, any text is allowed
};

struct Setting {
  std::string_view key;
  std::variant<Toggle, Number, Text> kind;
  std::string_view help;
};

std::span<const Setting> Settings();
// Returns the settings that say where and how a server listens. A server that does not listen has no use for them.
std::span<const Setting> ListenSettings();

std::string FlagName(const Setting& setting);  // "--max-sessions"
std::string HelpText(const Setting& setting);  // the help text with the range or the choices appended

// A value of a type that no setting has.
struct OtherType {
  std::string_view name;  // such as "a table"
};

// A value as the operator wrote it, before its type and range are checked.
using SettingValue = std::variant<bool, int64_t, std::string, OtherType>;

// Checks type and range, and sets the member of `config`. The error message is only the reason; the caller adds the key
// or flag.
Result<> Assign(const Setting& setting, const SettingValue& value, Config& config);

// Returns the value in TOML notation.
std::string TomlValue(const Setting& setting, const Config& config);

}  // namespace holdfast::exec_server
