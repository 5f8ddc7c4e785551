#include "exec_server/config/config.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/log.h"
#include "exec_server/config/config_file.h"
#include "exec_server/config/config_settings.h"

namespace holdfast::exec_server {
namespace {

// Sets the setting to an allowed value that is not the default.
void Change(const Setting& setting, Config& config) {
  if (const auto* toggle = std::get_if<Toggle>(&setting.kind)) {
    config.*toggle->member = !(config.*toggle->member);
  } else if (const auto* number = std::get_if<Number>(&setting.kind)) {
    config.*number->member = config.*number->member == number->max ? number->min : number->max;
  } else {
    const auto& text = std::get<Text>(setting.kind);
    const size_t bar = text.choices.find('|');
    const std::string_view first = text.choices.substr(0, bar), rest = text.choices.substr(bar + 1);
    config.*text.member = text.choices.empty()           ? "tab\t \"quote\" back\\slash \x7f \x01 \xc3\xa9 #"
                          : config.*text.member != first ? std::string(first)
                                                         : std::string(rest.substr(0, rest.find('|')));
  }
}

TEST(SettingsTest, EachHasAKeyAndAHelpOfItsOwn) {
  std::set<std::string_view> keys, helps;
  for (const Setting& setting : Settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_TRUE(helps.insert(setting.help).second) << setting.key;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
    EXPECT_EQ(setting.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos)
        << setting.key;
  }
}

// This test does not compile when Config has a further member, as a reminder to give it a line in the table.
TEST(SettingsTest, CoverEveryMemberOfConfig) {
  const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
               m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40] = Config{};
  EXPECT_EQ(Settings().size(), 40u);
}

// A client of 0.169 tries to come back for 45 s when its connection is lost, and its own server waits for 80 s.
TEST(ConfigTest, KeepsASessionAndItsOutputWhileAClientMayComeBack) {
  EXPECT_EQ(Config{}.detached_ttl_ms, 80'000u);
  EXPECT_EQ(Config{}.exited_retention_ms, 80'000u);
}

TEST(SettingsTest, EachLineNamesTheMemberOfItsKey) {
  for (const Setting& setting : Settings()) {
    Config changed;
    Change(setting, changed);
    EXPECT_NE(changed, Config{}) << setting.key;
    const std::string line = std::string(setting.key) + " = " + TomlValue(setting, changed);
    EXPECT_EQ(ParseConfig(line, "f", Config{}), changed) << setting.key;
  }
}

TEST(SettingsTest, DefaultsObeyTheirOwnRanges) {
  EXPECT_EQ(ParseConfig(PrintConfig(Config{}), "f", Config{}), Config{});
}

TEST(SettingsTest, NumbersEndAtTheirRange) {
  for (const Setting& setting : Settings()) {
    const auto* number = std::get_if<Number>(&setting.kind);
    if (number == nullptr) continue;
    Config config;
    const auto min = static_cast<int64_t>(number->min), max = static_cast<int64_t>(number->max);
    EXPECT_TRUE(Assign(setting, min, config).has_value()) << setting.key;
    EXPECT_TRUE(Assign(setting, max, config).has_value()) << setting.key;
    EXPECT_EQ(config.*number->member, number->max);
    EXPECT_FALSE(Assign(setting, min - 1, config).has_value()) << setting.key;
    EXPECT_FALSE(Assign(setting, max + 1, config).has_value()) << setting.key;
    EXPECT_EQ(config.*number->member, number->max);
  }
}

TEST(SettingsTest, LogWordsAreThoseOfTheLog) {
  for (const std::string level : {"debug", "info", "warn", "error", "off"}) {
    EXPECT_EQ(ParseConfig("log_level = '" + level + "'", "f", {})->log_level, level);
    EXPECT_TRUE(InitLog(level, "text"));
  }
  for (const std::string format : {"text", "json"}) {
    EXPECT_EQ(ParseConfig("log_format = '" + format + "'", "f", {})->log_format, format);
    EXPECT_TRUE(InitLog("off", format));
  }
}

TEST(PrintConfigTest, ReadsBackEqualWithEverySettingChanged) {
  Config config;
  for (const Setting& setting : Settings()) Change(setting, config);
  EXPECT_EQ(ParseConfig(PrintConfig(config), "f", Config{}), config);
}

TEST(PrintConfigTest, GivesEachSettingOneLineWithItsHelp) {
  std::istringstream toml(PrintConfig(Config{}));
  std::string line;
  for (const Setting& setting : Settings()) {
    ASSERT_TRUE(std::getline(toml, line));
    EXPECT_TRUE(line.starts_with(std::string(setting.key) + " = " + TomlValue(setting, Config{}) + " ")) << line;
    EXPECT_TRUE(line.ends_with("  # " + HelpText(setting))) << line;
  }
  EXPECT_FALSE(std::getline(toml, line)) << line;
}

TEST(PrintConfigTest, ShowsRangesAndChoices) {
  const std::string toml = PrintConfig(Config{});
  EXPECT_TRUE(toml.contains("# longest message that the server accepts from a client (1024..1073741824)\n")) << toml;
  EXPECT_TRUE(toml.contains("# the format of log lines (text|json)\n")) << toml;
}

TEST(ParseConfigTest, KeepsTheBaseWhereTheFileIsSilent) {
  Config base;
  base.max_sessions = 7;
  const Result<Config> config = ParseConfig("max_processes = 9\n", "f", base);
  EXPECT_EQ(config->max_sessions, 7u);
  EXPECT_EQ(config->max_processes, 9u);
}

struct Refusal {
  std::string_view toml;
  std::string_view message;
};

TEST(ParseConfigTest, NamesFileLineAndKeyOfWhatItRefuses) {
  const Refusal refusals[] = {
      {"\nmax_session = 3", "config f:2: unknown key \"max_session\""},
      {"[server]\nlisten = 'stdio'", "config f:1: unknown key \"server\""},
      {"max_sessions = 0", "config f:1: max_sessions: 0 is not between 1 and 1000000"},
      {"\n\nmax_sessions = -1", "config f:3: max_sessions: -1 is not between 1 and 1000000"},
      {"detached_ttl_ms = -1", "config f:1: detached_ttl_ms: -1 is not between 0 and 86400000"},
      {"max_sessions = 1.0", "config f:1: max_sessions: expected a whole number, got a fraction"},
      {"max_sessions = '3'", "config f:1: max_sessions: expected a whole number, got \"3\""},
      {"max_sessions = true", "config f:1: max_sessions: expected a whole number, got true"},
      {"max_sessions = [3]", "config f:1: max_sessions: expected a whole number, got an array"},
      {"max_sessions = 2026-11-15", "config f:1: max_sessions: expected a whole number, got a date or time"},
      {"listen.x = 3", "config f:1: listen: expected a string, got a table"},
      {"listen = 3", "config f:1: listen: expected a string, got 3"},
      {"allow_direct_exec = 1", "config f:1: allow_direct_exec: expected true or false, got 1"},
      {"log_level = 'loud'", "config f:1: log_level: \"loud\" is not one of debug|info|warn|error|off"},
      {"log_level = 'debug|info'", "config f:1: log_level: \"debug|info\" is not one of debug|info|warn|error|off"},
      {"log_format = ''", "config f:1: log_format: \"\" is not one of text|json"},
  };
  for (const Refusal& refusal : refusals) {
    const Result<Config> config = ParseConfig(refusal.toml, "f", Config{});
    ASSERT_FALSE(config.has_value()) << refusal.toml;
    EXPECT_EQ(config.error().message, refusal.message);
    EXPECT_EQ(config.error().kind, ErrorKind::kInvalidParams);
  }
}

TEST(ParseConfigTest, ReportsSyntaxErrorsWithTheirLine) {
  for (const char* toml : {"\nmax_sessions = ", "listen = 'a'\nlisten = 'b'", "\nlisten = \"\xff\"",
                           "\nmax_sessions = 99999999999999999999"}) {
    const Result<Config> config = ParseConfig(toml, "f", Config{});
    ASSERT_FALSE(config.has_value()) << toml;
    EXPECT_TRUE(config.error().message.starts_with("config f:2: ")) << config.error().message;
  }
}

TEST(LoadConfigFileTest, NamesTheFileInErrors) {
  const std::string missing = testing::TempDir() + "no_such_config.toml";
  EXPECT_EQ(LoadConfigFile(missing, {}).error().message, "open " + missing + ": No such file or directory");
  EXPECT_EQ(LoadConfigFile("/", {}).error().message, "read /: Is a directory");

  const std::string bad = testing::TempDir() + "bad_config." + std::to_string(::getpid()) + ".toml";
  std::ofstream(bad) << "\nmax_sessions = 0\n";
  EXPECT_EQ(LoadConfigFile(bad, {}).error().message,
            "config " + bad + ":2: max_sessions: 0 is not between 1 and 1000000");
  std::remove(bad.c_str());
}

}  // namespace
}  // namespace holdfast::exec_server
