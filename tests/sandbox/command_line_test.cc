#include "sandbox/command_line.h"

#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string_view>;

const std::set<std::string> kAllFlags = {"--sandbox-policy-cwd",
                                         "--program-fd",
                                         "--bwrap-fd",
                                         "--program-dir",
                                         "--server-tmpdir",
                                         "--hide",
                                         "--shut-port",
                                         "--port-ruleset-fd",
                                         "--project-root",
                                         "--tool-path",
                                         "--arg0",
                                         "--command-cwd",
                                         "--permission-profile",
                                         "--permission-profile-fd",
                                         "-c",
                                         "--use-legacy-landlock",
                                         "--allow-landlock-only",
                                         "--allow-network-for-proxy",
                                         "--managed-network",
                                         "--no-proc",
                                         "--report-fd",
                                         "--fs-helper"};

// After the one flag that must be there.
Result<CommandLine> Parse(std::initializer_list<std::string_view> more) {
  Words words = {"--sandbox-policy-cwd", "/w"};
  words.insert(words.end(), more);
  return ParseCommandLine(words);
}

CommandLine Parsed(std::initializer_list<std::string_view> more) {
  auto line = Parse(more);
  EXPECT_TRUE(line) << line.error().message;
  return line ? *line : CommandLine{};
}

// The message.
std::string Refused(const Result<CommandLine>& line) {
  if (line) {
    ADD_FAILURE() << "was taken";
    return "";
  }
  EXPECT_EQ(line.error().kind, ErrorKind::kInvalidParams);
  return line.error().message;
}

TEST(CommandLineTest, HasDefaultsForAllButThePolicysDirectory) {
  const CommandLine line = Parsed({});
  EXPECT_EQ(line.policy_cwd, "/w");
  EXPECT_EQ(line.command_cwd, std::nullopt);
  EXPECT_EQ(line.profile, std::nullopt);
  EXPECT_EQ(line.profile_fd, std::nullopt);
  EXPECT_EQ(line.legacy_landlock, LegacyLandlock::kNo);
  EXPECT_FALSE(line.landlock_only);
  EXPECT_FALSE(line.network_through_proxy);
  EXPECT_THAT(line.proxy_ports, IsEmpty());
  EXPECT_TRUE(line.fresh_proc);
  EXPECT_EQ(line.report_fd, std::nullopt);
  EXPECT_FALSE(line.fs_helper);
  EXPECT_THAT(line.command, IsEmpty());
  EXPECT_EQ(Refused(ParseCommandLine({})), "--sandbox-policy-cwd is missing");
}

TEST(CommandLineTest, TakesValuesAsTheNextWordOrAfterAnEqualsSign) {
  EXPECT_EQ(Parsed({"--command-cwd", "/c"}).command_cwd, "/c");
  EXPECT_EQ(Parsed({"--command-cwd=/c=d"}).command_cwd, "/c=d");
  EXPECT_EQ(Parsed({"--permission-profile", "{}"}).profile, "{}");
  EXPECT_EQ(Parsed({"--permission-profile={}"}).profile, "{}");
  EXPECT_EQ(Parsed({"--permission-profile-fd", "7"}).profile_fd, 7);
  EXPECT_EQ(Parsed({"--permission-profile-fd=0"}).profile_fd, 0);
  EXPECT_THAT(Parsed({"--managed-network", R"({"loopbackPorts":[80]})"}).proxy_ports, ElementsAre(80));
  EXPECT_THAT(Parsed({R"(--managed-network={"loopbackPorts":[80]})"}).proxy_ports, ElementsAre(80));
  EXPECT_EQ(ParseCommandLine(Words{"--sandbox-policy-cwd=/p"})->policy_cwd, "/p");
}

TEST(CommandLineTest, TakesSwitches) {
  EXPECT_EQ(Parsed({"--use-legacy-landlock"}).legacy_landlock, LegacyLandlock::kRequired);
  EXPECT_TRUE(Parsed({"--allow-landlock-only"}).landlock_only);
  EXPECT_TRUE(Parsed({"--allow-network-for-proxy"}).network_through_proxy);
  EXPECT_FALSE(Parsed({"--no-proc"}).fresh_proc);
  EXPECT_TRUE(Parsed({"--fs-helper"}).fs_helper);
}

TEST(CommandLineTest, TakesTheLegacySettingUnderBothNames) {
  for (const std::string key : {"use_legacy_landlock", "features.use_legacy_landlock"}) {
    EXPECT_EQ(Parsed({"-c", key + "=true"}).legacy_landlock, LegacyLandlock::kWhereItFits);
    EXPECT_EQ(Parsed({"--use-legacy-landlock", "-c", key + "=false"}).legacy_landlock, LegacyLandlock::kNo);
    EXPECT_THAT(Refused(Parse({"-c", key + "=yes"})), HasSubstr("expected true or false"));
    EXPECT_THAT(Refused(Parse({"-c", key})), HasSubstr("expected true or false"));
  }
  EXPECT_EQ(Refused(Parse({"-c", "model=x"})), "-c: no setting is called model");
}

TEST(CommandLineTest, AManagedNetworkIsThroughItsPortsOnly) {
  const CommandLine line = Parsed({"--managed-network", R"({"loopbackPorts":[1,65535],"allowLocalBinding":true})"});
  EXPECT_TRUE(line.network_through_proxy);
  EXPECT_THAT(line.proxy_ports, ElementsAre(1, 65535));
  EXPECT_TRUE(line.may_listen);
  EXPECT_TRUE(Parsed({"--managed-network", "{}"}).network_through_proxy);
  EXPECT_TRUE(Parsed({"--managed-network", "{}"}).may_listen);
  EXPECT_FALSE(Parsed({"--managed-network", R"({"allowLocalBinding":false,"later":1})"}).may_listen);
  for (const char* wrong : {"", "{", "[]", R"({"loopbackPorts":80})", R"({"loopbackPorts":[65536]})",
                            R"({"loopbackPorts":[-1]})", R"({"loopbackPorts":["80"]})", R"({"loopbackPorts":[0]})",
                            R"({"loopbackPorts":[80,80]})", R"({"allowLocalBinding":1})"}) {
    EXPECT_THAT(Refused(Parse({"--managed-network", wrong})), HasSubstr("--managed-network: ")) << wrong;
  }
}

TEST(CommandLineTest, DirectoriesAreAbsolute) {
  EXPECT_EQ(Refused(ParseCommandLine(Words{"--sandbox-policy-cwd", "w"})),
            R"(--sandbox-policy-cwd: "w" is not absolute)");
  EXPECT_EQ(Refused(ParseCommandLine(Words{"--sandbox-policy-cwd="})), R"(--sandbox-policy-cwd: "" is not absolute)");
  EXPECT_EQ(Refused(Parse({"--command-cwd", "./c"})), R"(--command-cwd: "./c" is not absolute)");
}

TEST(CommandLineTest, RefusesWhatIsNoDescriptor) {
  for (const std::string_view wrong : {"", "-1", "x", "3x", " 3", "3 ", "99999999999"}) {
    EXPECT_THAT(Refused(Parse({"--permission-profile-fd", wrong})), HasSubstr("is no file descriptor")) << wrong;
  }
}

TEST(CommandLineTest, RefusesWhatIsNoFlag) {
  for (const std::string_view wrong : {"--no-such-flag", "--no-such-flag=1", "-x", "", "-", "ls", "--no-procs",
                                       "--no-pro", "-cuse_legacy_landlock=true", "-c=use_legacy_landlock=true"}) {
    EXPECT_THAT(Refused(Parse({wrong})), HasSubstr("no flag is called")) << wrong;
  }
  EXPECT_EQ(Refused(Parse({"--no-such-flag=1"})), "no flag is called --no-such-flag");
}

TEST(CommandLineTest, ASwitchTakesNoValueAndAFlagNeedsOne) {
  EXPECT_EQ(Refused(Parse({"--no-proc=true"})), "--no-proc takes no value");
  EXPECT_EQ(Refused(Parse({"--no-proc="})), "--no-proc takes no value");
  EXPECT_EQ(Refused(Parse({"--permission-profile"})), "--permission-profile needs a value");
  EXPECT_EQ(Refused(Parse({"-c"})), "-c needs a value");
}

TEST(CommandLineTest, TheProfileComesFromOnePlace) {
  const std::string expected = "--permission-profile and --permission-profile-fd exclude each other";
  EXPECT_EQ(Refused(Parse({"--permission-profile", "{}", "--permission-profile-fd", "3"})), expected);
  EXPECT_EQ(Refused(Parse({"--permission-profile-fd", "3", "--permission-profile", "{}"})), expected);
}

TEST(CommandLineTest, OrderDoesNotMatterAndTheLastOfTwoWins) {
  const auto line = ParseCommandLine(Words{"--no-proc", "--command-cwd", "/a", "--permission-profile", "{}",
                                           "--sandbox-policy-cwd", "/w", "--command-cwd=/b"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->policy_cwd, "/w");
  EXPECT_EQ(line->command_cwd, "/b");
  EXPECT_FALSE(line->fresh_proc);
}

TEST(CommandLineTest, AllAfterTheDashesIsTheCommand) {
  EXPECT_THAT(Parsed({"--", "ls", "-l"}).command, ElementsAre("ls", "-l"));
  EXPECT_THAT(Parsed({"--", "--no-proc", "--", "-c", ""}).command, ElementsAre("--no-proc", "--", "-c", ""));
  EXPECT_TRUE(Parsed({"--", "--no-proc"}).fresh_proc);
  EXPECT_THAT(Parsed({"--"}).command, IsEmpty());
}

// Else a value that is left out would make the command a list of flags.
TEST(CommandLineTest, TheDashesAfterAFlagAreItsValue) {
  EXPECT_EQ(Refused(Parse({"--command-cwd", "--", "ls"})), R"(--command-cwd: "--" is not absolute)");
}

TEST(CommandLineTest, TheReportDoesNotGoToTheCommandsStreams) {
  EXPECT_EQ(Parsed({"--report-fd", "3"}).report_fd, 3);
  for (const std::string_view stream : {"0", "1", "2"}) {
    EXPECT_EQ(Refused(Parse({"--report-fd", stream})), "--report-fd: 0, 1 and 2 are the command's");
  }
}

TEST(CommandLineTest, WhatIsBuiltInHasNoCommand) {
  EXPECT_EQ(Refused(Parse({"--fs-helper", "--", "ls"})), "--fs-helper and a command exclude each other");
  EXPECT_TRUE(Parsed({"--fs-helper", "--"}).fs_helper);
}

TEST(CommandLineTest, TheReportIsFoundInWordsThatMakeNoSense) {
  EXPECT_EQ(FindReportFd(Words{"--no-such-flag", "--report-fd", "7"}), 7);
  EXPECT_EQ(FindReportFd(Words{"--report-fd=7", "x"}), 7);
  for (const Words& without : {Words{}, Words{"--report-fd"}, Words{"--report-fd", "x"}, Words{"--report-fd", "2"},
                               Words{"--report-fds=7"}, Words{"--", "--report-fd", "7"}}) {
    EXPECT_EQ(FindReportFd(without), std::nullopt);
  }
}

TEST(CommandLineTest, UsageListsEveryFlagOnce) {
  std::istringstream lines(Usage());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "usage: holdfast-linux-sandbox FLAGS -- COMMAND ARGUMENTS...");
  std::set<std::string> listed;
  while (std::getline(lines, line)) {
    std::string name;
    std::istringstream(line) >> name;
    EXPECT_TRUE(listed.insert(name).second) << name;
  }
  EXPECT_EQ(listed, kAllFlags);
}

}  // namespace
}  // namespace holdfast::sandbox
