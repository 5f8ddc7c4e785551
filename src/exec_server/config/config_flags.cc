#include "exec_server/config/config_flags.h"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "base/parse_number.h"
#include "exec_server/config/config_file.h"
#include "exec_server/config/config_settings.h"

namespace holdfast::exec_server {
namespace {

std::string DefaultText(const Setting& setting) {
  static const Config defaults;
  if (const auto* text = std::get_if<Text>(&setting.kind)) return defaults.*text->member;
  return TomlValue(setting, defaults);
}

// Adds the flag of one setting. CLI11 only collects the values as text; Assign checks them, so that the same rules hold
// for a flag and for a key of the file.
CLI::Option* AddFlag(CLI::App& app, const Setting& setting) {
  const std::string name = FlagName(setting);
  const std::string help = HelpText(setting);
  if (std::holds_alternative<Toggle>(setting.kind)) {
    const std::string choice = fmt::format("{} [{}]", help, DefaultText(setting));
    return app.add_flag(name, choice);
  }
  const bool is_number = std::holds_alternative<Number>(setting.kind);
  return app.add_option(name, help)->type_name(is_number ? "N" : "TEXT")->default_str(DefaultText(setting));
}

// Converts the text of a flag to the type of its setting. Text that does not have this type is returned as it is, and
// Assign then fails with a message about it.
SettingValue ValueOf(const Setting& setting, const std::string& word) {
  if (std::holds_alternative<Toggle>(setting.kind) && (word == "true" || word == "false")) return word == "true";
  if (std::holds_alternative<Number>(setting.kind)) {
    if (const auto number = ParseNumber<int64_t>(word)) return *number;
  }
  return word;
}

}  // namespace

ConfigFlags::ConfigFlags(CLI::App& app) {
  const std::string config_help = "read settings from a TOML file; a flag overrides the setting in the file";
  const std::string print_help = "print all settings as TOML, with the file and the flags applied, and exit";
  config_file_ = app.add_option("--config", config_help)->type_name("FILE");
  print_config_ = app.add_flag("--print-config", print_help);
  for (const Setting& setting : Settings()) options_.push_back(AddFlag(app, setting));
}

Result<Config> ConfigFlags::LoadFile() const {
  if (config_file_->empty()) return Config{};
  return LoadConfigFile(config_file_->results().back(), Config{});
}

Result<Config> ConfigFlags::Load() const {
  TRY(Config config, LoadFile());
  for (size_t i = 0; i < options_.size(); ++i) {
    if (options_[i]->empty()) continue;
    const Setting& setting = Settings()[i];
    const Result<> assigned = Assign(setting, ValueOf(setting, options_[i]->results().back()), config);
    if (!assigned) {
      return Fail(ErrorKind::kInvalidParams, fmt::format("{}: {}", FlagName(setting), assigned.error().message));
    }
  }
  return config;
}

bool ConfigFlags::print_config() const { return !print_config_->empty(); }

}  // namespace holdfast::exec_server
