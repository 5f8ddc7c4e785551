#include "exec_server/config/config_flags.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec_server/config/config_settings.h"

namespace holdfast::exec_server {
namespace {

// Loads the settings of a command line. A word is a flag with its value (--max-sessions=1), a flag before its value, or
// a toggle alone.
Result<Config> Load(const std::vector<std::string>& words) {
  std::map<std::string, std::string, std::less<>> flags;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    std::string& value = flags[words[i].substr(0, equals)];
    if (equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else {
      value = i + 1 < words.size() && !words[i + 1].starts_with("--") ? words[++i] : "true";
    }
  }
  return LoadConfig([&](std::string_view flag) {
    const auto found = flags.find(flag);
    return found == flags.end() ? std::nullopt : std::optional(found->second);
  });
}

class ConfigFile {
 public:
  explicit ConfigFile(std::string_view toml) { std::ofstream(path_) << toml; }
  ~ConfigFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "config_flags_test." + std::to_string(::getpid()) + ".toml";
};

TEST(ConfigFlagsTest, GivesDefaultsWithoutFlags) { EXPECT_EQ(Load({}), Config{}); }

TEST(ConfigFlagsTest, EverySettingHasAFlagThatSetsIt) {
  for (const Setting& setting : Settings()) {
    std::string word = "false";
    if (const auto* number = std::get_if<Number>(&setting.kind)) word = std::to_string(number->max);
    if (const auto* text = std::get_if<Text>(&setting.kind)) word = text->choices.substr(0, text->choices.find('|'));
    if (setting.key == "log_format") word = "json";
    if (setting.key == "ws_auth") word = "none";
    if (setting.key == "sandbox_backend") word = "native";
    if (setting.key == "insecure_no_auth") word = "true";

    const Result<Config> config = Load({FlagName(setting) + "=" + (word.empty() ? "stdio" : word)});
    ASSERT_TRUE(config.has_value()) << config.error().message;
    for (const Setting& other : Settings()) {
      EXPECT_EQ(TomlValue(other, *config) == TomlValue(other, Config{}), other.key != setting.key)
          << FlagName(setting) << " and " << other.key;
    }
  }
}

TEST(ConfigFlagsTest, SpellsFlagsWithDashes) {
  EXPECT_EQ(Load({"--detached-ttl-ms", "0"})->detached_ttl_ms, 0u);
  EXPECT_EQ(Load({"--listen", "stdio"})->listen, "stdio");
}

TEST(ConfigFlagsTest, TogglesTakeNoValueOrTrueOrFalse) {
  EXPECT_TRUE(Load({"--insecure-no-auth"})->insecure_no_auth);
  EXPECT_TRUE(Load({"--insecure-no-auth=true"})->insecure_no_auth);
  EXPECT_FALSE(Load({"--insecure-no-auth=false"})->insecure_no_auth);
  EXPECT_FALSE(Load({"--allow-direct-exec=false"})->allow_direct_exec);
  EXPECT_TRUE(Load({"--allow-direct-exec"})->allow_direct_exec);
}

TEST(ConfigFlagsTest, FlagsWinOverTheFileAndTheFileOverDefaults) {
  const ConfigFile file("max_sessions = 5\nmax_processes = 6\ninsecure_no_auth = true\nlisten = 'stdio'\n");
  const Result<Config> config =
      Load({"--max-processes", "7", "--insecure-no-auth=false", "--config", file.path(), "--listen=ws://127.0.0.1:0"});
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->max_sessions, 5u);
  EXPECT_EQ(config->max_processes, 7u);
  EXPECT_FALSE(config->insecure_no_auth);
  EXPECT_EQ(config->listen, "ws://127.0.0.1:0");
  EXPECT_EQ(config->max_inflight, Config{}.max_inflight);
}

TEST(ConfigFlagsTest, ReportsTheFileEvenWhenAFlagOverridesTheKey) {
  const ConfigFile file("max_sessions = 0\n");
  EXPECT_EQ(Load({"--max-sessions=1", "--config=" + file.path()}).error().message,
            "config " + file.path() + ":1: max_sessions: 0 is not between 1 and 1000000");
}

struct Refusal {
  std::string word;
  std::string message;
};

TEST(ConfigFlagsTest, NamesTheFlagItRefuses) {
  const Refusal refusals[] = {
      {"--max-sessions=0", "--max-sessions: 0 is not between 1 and 1000000"},
      {"--max-sessions=-1", "--max-sessions: -1 is not between 1 and 1000000"},
      {"--max-sessions=3x", "--max-sessions: expected a whole number, got \"3x\""},
      {"--max-sessions=1.5", "--max-sessions: expected a whole number, got \"1.5\""},
      {"--max-sessions=0x10", "--max-sessions: expected a whole number, got \"0x10\""},
      {"--max-sessions=+3", "--max-sessions: expected a whole number, got \"+3\""},
      {"--max-sessions=99999999999999999999", "--max-sessions: expected a whole number, got \"99999999999999999999\""},
      {"--max-message-bytes=1023", "--max-message-bytes: 1023 is not between 1024 and 1073741824"},
      {"--log-level=INFO", "--log-level: \"INFO\" is not one of debug|info|warn|error|off"},
      {"--insecure-no-auth=yes", "--insecure-no-auth: expected true or false, got \"yes\""},
      {"--insecure-no-auth=1", "--insecure-no-auth: expected true or false, got \"1\""},
  };
  for (const Refusal& refusal : refusals) {
    const Result<Config> config = Load({refusal.word});
    ASSERT_FALSE(config.has_value()) << refusal.word;
    EXPECT_EQ(config.error().message, refusal.message);
    EXPECT_EQ(config.error().kind, ErrorKind::kInvalidParams);
  }
}

TEST(ConfigFlagsTest, WritesDefaultsAsAUserWould) {
  for (const Setting& setting : Settings()) {
    if (setting.key == "listen") EXPECT_EQ(DefaultText(setting), "ws://127.0.0.1:0");
    if (setting.key == "max_sessions") EXPECT_EQ(DefaultText(setting), "1024");
    if (setting.key == "insecure_no_auth") EXPECT_EQ(DefaultText(setting), "false");
  }
}

}  // namespace
}  // namespace holdfast::exec_server
