#include "sandbox/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "process/command/command.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using Words = std::vector<std::string_view>;

const std::set<std::string> kAllFlags = {"--sandbox-policy-cwd",
                                         "--program-fd",
                                         "--bwrap-fd",
                                         "--program-dir",
                                         "--server-tmpdir",
                                         "--given-roots-fd",
                                         "--hide",
                                         "--private-dir",
                                         "--shut-port",
                                         "--port-ruleset-fd",
                                         "--project-root",
                                         "--tool-path",
                                         "--arg0",
                                         "--command-cwd",
                                         "--permission-profile",
                                         "--permission-profile-fd",
                                         "-c",
                                         "--backend",
                                         "--use-legacy-landlock",
                                         "--allow-landlock-only",
                                         "--allow-network-for-proxy",
                                         "--managed-network",
                                         "--no-proc",
                                         "--exec-supervisor-fd",
                                         "--keep-fd",
                                         "--report-fd",
                                         "--fs-helper"};

// After the one flag that must be there.
Result<SandboxedCommand> Parse(std::initializer_list<std::string_view> more) {
  Words words = {"--sandbox-policy-cwd", "/w"};
  words.insert(words.end(), more);
  return ParseFlags(words);
}

SandboxedCommand Parsed(std::initializer_list<std::string_view> more) {
  auto line = Parse(more);
  EXPECT_TRUE(line) << line.error().message;
  return line ? *line : SandboxedCommand{};
}

// The message.
std::string Refused(const Result<SandboxedCommand>& line) {
  if (line) {
    ADD_FAILURE() << "was taken";
    return "";
  }
  EXPECT_EQ(line.error().kind, ErrorKind::kInvalidParams);
  return line.error().message;
}

TEST(FlagsTest, HasDefaultsForAllButThePolicysDirectory) {
  const SandboxedCommand line = Parsed({});
  EXPECT_EQ(line.sandbox.policy_cwd, "/w");
  EXPECT_EQ(line.command.cwd, "");
  EXPECT_EQ(line.profile, std::nullopt);
  EXPECT_EQ(line.profile_fd, std::nullopt);
  EXPECT_EQ(line.backend, Backend::kAuto);
  EXPECT_FALSE(line.prefers_landlock);
  EXPECT_FALSE(line.landlock_only);
  EXPECT_EQ(line.sandbox.proxies, std::nullopt);
  EXPECT_TRUE(line.fresh_proc);
  EXPECT_EQ(line.report_fd, std::nullopt);
  EXPECT_FALSE(line.file_helper);
  EXPECT_THAT(line.command.argv, IsEmpty());
  EXPECT_EQ(Refused(ParseFlags({})), "--sandbox-policy-cwd is missing");
}

TEST(FlagsTest, TakesValuesAsTheNextWordOrAfterAnEqualsSign) {
  EXPECT_EQ(Parsed({"--command-cwd", "/c"}).command.cwd, "/c");
  EXPECT_EQ(Parsed({"--command-cwd=/c=d"}).command.cwd, "/c=d");
  EXPECT_EQ(Parsed({"--permission-profile", "{}"}).profile, "{}");
  EXPECT_EQ(Parsed({"--permission-profile={}"}).profile, "{}");
  EXPECT_EQ(Parsed({"--permission-profile-fd", "7"}).profile_fd, 7);
  EXPECT_EQ(Parsed({"--permission-profile-fd=3"}).profile_fd, 3);
  EXPECT_THAT(Parsed({"--managed-network", R"({"loopbackPorts":[80]})"}).sandbox.proxies->loopback_ports,
              Optional(ElementsAre(80)));
  EXPECT_THAT(Parsed({R"(--managed-network={"loopbackPorts":[80]})"}).sandbox.proxies->loopback_ports,
              Optional(ElementsAre(80)));
  EXPECT_EQ(ParseFlags(Words{"--sandbox-policy-cwd=/p"})->sandbox.policy_cwd, "/p");
}

TEST(FlagsTest, TakesSwitches) {
  EXPECT_EQ(Parsed({"--use-legacy-landlock"}).backend, Backend::kLandlock);
  EXPECT_TRUE(Parsed({"--allow-landlock-only"}).landlock_only);
  EXPECT_EQ(Parsed({"--allow-network-for-proxy"}).sandbox.proxies, wire::ManagedNetwork());
  EXPECT_FALSE(Parsed({"--no-proc"}).fresh_proc);
  EXPECT_TRUE(Parsed({"--fs-helper"}).file_helper);
}

TEST(FlagsTest, TakesABackendByItsName) {
  for (const Backend backend : {Backend::kAuto, Backend::kNative, Backend::kBubblewrap, Backend::kLandlock}) {
    EXPECT_EQ(Parsed({"--backend", NameOf(backend)}).backend, backend);
  }
  EXPECT_EQ(Refused(Parse({"--backend", "bwrap"})),
            "--backend: \"bwrap\" is none of auto, native, bubblewrap and landlock");
}

TEST(FlagsTest, TakesTheLegacySettingUnderBothNames) {
  for (const std::string key : {"use_legacy_landlock", "features.use_legacy_landlock"}) {
    EXPECT_TRUE(Parsed({"-c", key + "=true"}).prefers_landlock);
    EXPECT_FALSE(Parsed({"-c", key + "=true", "-c", key + "=false"}).prefers_landlock);
    EXPECT_EQ(Parsed({"--backend", "native", "-c", key + "=true"}).backend, Backend::kNative);
    EXPECT_THAT(Refused(Parse({"-c", key + "=yes"})), HasSubstr("expected true or false"));
    EXPECT_THAT(Refused(Parse({"-c", key})), HasSubstr("expected true or false"));
  }
  EXPECT_EQ(Refused(Parse({"-c", "model=x"})), "-c: unknown setting model");
}

TEST(FlagsTest, AManagedNetworkIsThroughItsPortsOnly) {
  const SandboxedCommand line =
      Parsed({"--managed-network", R"({"loopbackPorts":[1,65535],"allowLocalBinding":true})"});
  EXPECT_TRUE(line.sandbox.proxies->may_listen());
  EXPECT_THAT(line.sandbox.proxies->loopback_ports, Optional(ElementsAre(1, 65535)));
  EXPECT_TRUE(Parsed({"--managed-network", "{}"}).sandbox.proxies->may_listen());
  const std::string_view silent = R"({"allowLocalBinding":false,"later":1})";
  EXPECT_FALSE(Parsed({"--managed-network", silent}).sandbox.proxies->may_listen());
  EXPECT_FALSE(Parsed({"--managed-network", silent, "--allow-network-for-proxy"}).sandbox.proxies->may_listen());
  for (const char* wrong : {"", "{", "[]", R"({"loopbackPorts":80})", R"({"loopbackPorts":[65536]})",
                            R"({"loopbackPorts":[-1]})", R"({"loopbackPorts":["80"]})", R"({"loopbackPorts":[0]})",
                            R"({"loopbackPorts":[80,80]})", R"({"allowLocalBinding":1})"}) {
    EXPECT_THAT(Refused(Parse({"--managed-network", wrong})), HasSubstr("--managed-network: ")) << wrong;
  }
}

TEST(FlagsTest, DirectoriesAreAbsolute) {
  EXPECT_EQ(Refused(ParseFlags(Words{"--sandbox-policy-cwd", "w"})),
            R"(--sandbox-policy-cwd: "w" is not an absolute path)");
  EXPECT_EQ(Refused(ParseFlags(Words{"--sandbox-policy-cwd="})), R"(--sandbox-policy-cwd: "" is not an absolute path)");
  EXPECT_EQ(Refused(Parse({"--command-cwd", "./c"})), R"(--command-cwd: "./c" is not an absolute path)");
}

TEST(FlagsTest, RefusesWhatIsNoDescriptor) {
  for (const std::string_view wrong : {"", "-1", "x", "3x", " 3", "3 ", "99999999999"}) {
    EXPECT_THAT(Refused(Parse({"--permission-profile-fd", wrong})), HasSubstr("is not a file descriptor")) << wrong;
  }
}

TEST(FlagsTest, TheProfileDoesNotComeFromTheCommandsInput) {
  EXPECT_EQ(Refused(Parse({"--permission-profile-fd", "0"})),
            "--permission-profile-fd: descriptor 0 is the command's input; pass the profile in another, such as 3");
}

TEST(FlagsTest, RefusesWhatIsNoFlag) {
  for (const std::string_view wrong : {"--no-such-flag", "--no-such-flag=1", "-x", "", "-", "ls", "--no-procs",
                                       "--no-pro", "-cuse_legacy_landlock=true", "-c=use_legacy_landlock=true"}) {
    EXPECT_THAT(Refused(Parse({wrong})), HasSubstr("unknown flag")) << wrong;
  }
  EXPECT_EQ(Refused(Parse({"--no-such-flag=1"})), "unknown flag --no-such-flag");
}

TEST(FlagsTest, ASwitchTakesNoValueAndAFlagNeedsOne) {
  EXPECT_EQ(Refused(Parse({"--no-proc=true"})), "--no-proc takes no value");
  EXPECT_EQ(Refused(Parse({"--no-proc="})), "--no-proc takes no value");
  EXPECT_EQ(Refused(Parse({"--permission-profile"})), "--permission-profile needs a value");
  EXPECT_EQ(Refused(Parse({"-c"})), "-c needs a value");
}

TEST(FlagsTest, TheProfileComesFromOnePlace) {
  const std::string expected = "--permission-profile and --permission-profile-fd cannot be used together";
  EXPECT_EQ(Refused(Parse({"--permission-profile", "{}", "--permission-profile-fd", "3"})), expected);
  EXPECT_EQ(Refused(Parse({"--permission-profile-fd", "3", "--permission-profile", "{}"})), expected);
}

TEST(FlagsTest, OrderDoesNotMatterAndTheLastOfTwoWins) {
  const auto line = ParseFlags(Words{"--no-proc", "--command-cwd", "/a", "--permission-profile", "{}",
                                     "--sandbox-policy-cwd", "/w", "--command-cwd=/b"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->sandbox.policy_cwd, "/w");
  EXPECT_EQ(line->command.cwd, "/b");
  EXPECT_FALSE(line->fresh_proc);
}

TEST(FlagsTest, AllAfterTheDashesIsTheCommand) {
  EXPECT_THAT(Parsed({"--", "ls", "-l"}).command.argv, ElementsAre("ls", "-l"));
  EXPECT_THAT(Parsed({"--", "--no-proc", "--", "-c", ""}).command.argv, ElementsAre("--no-proc", "--", "-c", ""));
  EXPECT_TRUE(Parsed({"--", "--no-proc"}).fresh_proc);
  EXPECT_THAT(Parsed({"--"}).command.argv, IsEmpty());
}

// Else a value that is left out would make the command a list of flags.
TEST(FlagsTest, TheDashesAfterAFlagAreItsValue) {
  EXPECT_EQ(Refused(Parse({"--command-cwd", "--", "ls"})), R"(--command-cwd: "--" is not an absolute path)");
}

TEST(FlagsTest, TheReportDoesNotGoToTheCommandsStreams) {
  EXPECT_EQ(Parsed({"--report-fd", "3"}).report_fd, 3);
  for (const std::string_view stream : {"0", "1", "2"}) {
    EXPECT_EQ(Refused(Parse({"--report-fd", stream})), "--report-fd: descriptors 0, 1 and 2 belong to the command");
  }
}

TEST(FlagsTest, WhatIsBuiltInHasNoCommand) {
  EXPECT_EQ(Refused(Parse({"--fs-helper", "--", "ls"})), "--fs-helper and a command cannot be used together");
  EXPECT_TRUE(Parsed({"--fs-helper", "--"}).file_helper);
}

TEST(FlagsTest, TheFileHelperIsNotSupervised) {
  const OwnedFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(Refused(Parse({"--fs-helper", "--exec-supervisor-fd", std::to_string(nothing.get())})),
            "--fs-helper and --exec-supervisor-fd cannot be used together");
  EXPECT_EQ(Refused(Parse({"--fs-helper", "--keep-fd", std::to_string(nothing.get())})),
            "--fs-helper and --keep-fd cannot be used together");
}

// Otherwise a command could inherit a descriptor of the helper's own mount, where the caller has named a closed one.
TEST(FlagsTest, TheProgramIsNoOtherDescriptorToo) {
  const OwnedFd program(::open("/dev/null", O_RDONLY | O_CLOEXEC)), other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string fd = std::to_string(program.get());
  for (const std::string flag : {"--keep-fd", "--bwrap-fd", "--port-ruleset-fd", "--exec-supervisor-fd", "--report-fd",
                                 "--permission-profile-fd"}) {
    EXPECT_EQ(Refused(Parse({"--program-fd", fd, flag, fd})),
              "descriptor " + fd + " is the helper's own program: name a descriptor that the caller has opened")
        << flag;
  }
  EXPECT_EQ(Parsed({"--program-fd", fd, "--keep-fd", std::to_string(other.get())}).program_fd, program.get());
}

TEST(FlagsTest, TheReportIsFoundInWordsThatMakeNoSense) {
  EXPECT_EQ(FindReportFd(Words{"--no-such-flag", "--report-fd", "7"}), 7);
  EXPECT_EQ(FindReportFd(Words{"--report-fd=7", "x"}), 7);
  for (const Words& without : {Words{}, Words{"--report-fd"}, Words{"--report-fd", "x"}, Words{"--report-fd", "2"},
                               Words{"--report-fds=7"}, Words{"--", "--report-fd", "7"}}) {
    EXPECT_EQ(FindReportFd(without), std::nullopt);
  }
}

TEST(FlagsTest, TheCommandIsToldTheNameThatIsGiven) {
  const SandboxedCommand line = Parsed({"--arg0", "-sh", "--", "/bin/sh", "-c"});
  EXPECT_EQ(line.command.program, "/bin/sh");
  EXPECT_THAT(line.command.argv, ElementsAre("-sh", "-c"));
  EXPECT_THAT(Parsed({"--arg0", "-sh"}).command.argv, IsEmpty()) << "a name is no command";
}

// Numbers at which descriptors are open, as the helper finds them.
class OpenDescriptors {
 public:
  OpenDescriptors() {
    for (int fd = kFirst; fd <= kLast; ++fd) EXPECT_EQ(::dup2(nothing_.get(), fd), fd);
  }
  ~OpenDescriptors() { ::close_range(kFirst, kLast, 0); }
  OpenDescriptors(const OpenDescriptors&) = delete;
  OpenDescriptors& operator=(const OpenDescriptors&) = delete;

  static constexpr int kFirst = 900, kLast = kFirst + 4;

 private:
  OwnedFd nothing_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
};

process::Command CommandOf(process::CommandText text, std::string cwd = "") {
  const char* const path = std::getenv("PATH");
  auto command =
      process::MakeCommand(std::move(text), path != nullptr ? std::optional<std::string_view>(path) : std::nullopt);
  command.cwd = std::move(cwd);
  return command;
}

// Every member with each kind of value that it can have.
std::vector<SandboxedCommand> ManyCommands() {
  using C = SandboxedCommand;
  const std::vector<std::function<void(C&)>> changes = {
      [](C&) {},
      [](C& c) { c.command = CommandOf({.words = {"ls", "--", "-l", ""}}); },
      [](C& c) { c.command = CommandOf({.words = {"/bin/sh", "--no-proc"}, .arg0 = "-sh"}, "/command dir"); },
      [](C& c) { c.command = CommandOf({.words = {""}, .arg0 = ""}); },
      [](C& c) { c.file_helper = true, c.command.cwd = "/"; },
      [](C& c) { c.profile = R"({"type":"disabled"})"; },
      [](C& c) { c.profile = ""; },
      [](C& c) { c.profile_fd = 4; },
      [](C& c) { c.sandbox.policy_cwd = "/other=dir"; },
      [](C& c) { c.sandbox.project_roots = {"/a", "/b", "/a"}; },
      [](C& c) { c.guarded.server_tmpdir = "/server/tmp"; },
      [](C& c) { c.prefers_landlock = true; },
      [](C& c) { c.backend = Backend::kNative; },
      [](C& c) { c.backend = Backend::kBubblewrap; },
      [](C& c) { c.backend = Backend::kLandlock; },
      [](C& c) { c.landlock_only = true; },
      [](C& c) { c.fresh_proc = false; },
      [](C& c) { c.tool_path = ""; },
      [](C& c) { c.tool_path = "/tools:/more"; },
      [](C& c) { c.guarded.program_directory = "/opt"; },
      [](C& c) { c.sandbox.proxies.emplace(); },
      [](C& c) { c.sandbox.proxies = {.allow_local_binding = false}; },
      [](C& c) { c.sandbox.proxies = {.loopback_ports = std::vector<uint16_t>{1, 65535}}; },
      [](C& c) { c.sandbox.proxies = {.loopback_ports = std::vector<uint16_t>{80}, .allow_local_binding = false}; },
      [](C& c) { c.guarded.hidden = {"/run/a.sock", "/run/b.sock"}; },
      [](C& c) { c.guarded.private_dirs = {"/run/user/1/holdfast", "/home/u/.cache/holdfast"}; },
      [](C& c) { c.shut_port = 65535; },
      [](C& c) { c.program_fd = OpenDescriptors::kFirst; },
      [](C& c) { c.bubblewrap_fd = OpenDescriptors::kFirst + 1; },
      [](C& c) { c.port_ruleset_fd = OpenDescriptors::kFirst + 2; },
      [](C& c) { c.exec_supervisor_fd = OpenDescriptors::kFirst + 3; },
      [](C& c) { c.kept_fd = OpenDescriptors::kFirst + 3; },
      [](C& c) { c.guarded.given_roots_fd = OpenDescriptors::kFirst + 4; },
      [](C& c) { c.report_fd = 3; },
  };
  std::vector<C> commands;
  for (const auto& change : changes) {
    for (const auto& other : changes) {
      commands.emplace_back().sandbox.policy_cwd = "/w";
      change(commands.back());
      other(commands.back());
    }
  }
  return commands;
}

TEST(FlagsTest, ACommandLineMeansWhatItWasMadeOf) {
  const OpenDescriptors open;
  size_t compared = 0;
  for (SandboxedCommand& command : ManyCommands()) {
    if (command.profile) command.profile_fd.reset();  // they exclude each other
    if (command.file_helper) {
      command.command = {.cwd = command.command.cwd};
      command.exec_supervisor_fd.reset();
      command.kept_fd.reset();
    }
    const std::vector<std::string> words = BuildFlags(command);
    const auto parsed = ParseFlags(Words(words.begin(), words.end()));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, command) << testing::PrintToString(words);
    ++compared;
  }
  EXPECT_GT(compared, 700u);
}

// A flag that the builder never writes could be read as something else without a test noticing.
TEST(FlagsTest, EveryFlagIsWrittenByOneOfTheManyCommands) {
  std::set<std::string> written;
  for (const SandboxedCommand& command : ManyCommands()) {
    const std::vector<std::string> words = BuildFlags(command);
    written.insert(words.begin(), std::ranges::find(words, "--"));
  }
  for (const std::string& flag : kAllFlags) EXPECT_TRUE(written.contains(flag)) << flag;
}

TEST(FlagsTest, UsageListsEveryFlagOnce) {
  std::istringstream lines(Usage("codex-linux-sandbox"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "usage: codex-linux-sandbox FLAGS -- COMMAND ARGUMENTS...");
  std::set<std::string> listed;
  while (std::getline(lines, line)) {
    std::string name;
    std::istringstream(line) >> name;
    EXPECT_TRUE(listed.insert(name).second) << name;
  }
  std::set<std::string> all = kAllFlags;
  all.insert("--help");
  EXPECT_EQ(listed, all);
}

TEST(FlagsTest, HelpIsAskedForByAFlagAndNotByAValueOrTheCommand) {
  EXPECT_TRUE(AsksForHelp(Words{"--help"}));
  EXPECT_TRUE(AsksForHelp(Words{"-h"}));
  EXPECT_TRUE(AsksForHelp(Words{"--program-fd", "3", "--no-such-flag", "--help", "--", "ls"}));
  EXPECT_FALSE(AsksForHelp(Words{}));
  EXPECT_FALSE(AsksForHelp(Words{"--arg0", "--help", "--", "ls"}));
  EXPECT_TRUE(AsksForHelp(Words{"--arg0=x", "--help"}));
  EXPECT_FALSE(AsksForHelp(Words{"--sandbox-policy-cwd", "/w", "--", "ls", "--help"}));
}

}  // namespace
}  // namespace holdfast::sandbox
