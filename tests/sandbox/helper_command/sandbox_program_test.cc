#include "sandbox/helper_command/sandbox_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/permission_profile.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Pair;
using testing::UnorderedElementsAre;
using Strings = std::vector<std::string>;

SandboxProgram Program() {
  return {{.helper = SealedProgram(std::make_shared<const OwnedFd>()), .directory = "/opt/holdfast"},
          "/tools",
          "/server/tmp"};
}

SandboxSpec ReadOnly() {
  SandboxSpec spec;
  spec.profile.policy.files.emplace();
  spec.profile.policy.files->entries = {{Place{PlaceKind::kRoot}, Access::kRead}};
  spec.policy_cwd = "/project";
  return spec;
}

process::Command Shell() {
  return {.program = "/bin/sh", .search_path = {}, .argv = {"/bin/sh", "-c", "true"}, .env = {{"A", "1"}}, .cwd = "/w"};
}

process::Command Wrap(const process::Command& command, const SandboxSpec& spec = ReadOnly()) {
  auto wrapped = Program().Wrap(command, spec);
  EXPECT_TRUE(wrapped) << wrapped.error().message;
  return *std::move(wrapped);
}

// The arguments of the helper, and those of the command.
struct Words {
  Strings ours, commands;
};
Words Split(const process::Command& wrapped) {
  const auto dashes = std::ranges::find(wrapped.argv, "--");
  EXPECT_NE(dashes, wrapped.argv.end());
  if (dashes == wrapped.argv.end()) return {wrapped.argv, {}};
  return {{wrapped.argv.begin(), dashes}, {dashes + 1, wrapped.argv.end()}};
}

// Returns the flags, each with its value if it has one, without those for the directories of private servers, which
// depend on the environment of the test.
Strings Flags(const Strings& ours) {
  Strings flags;
  for (size_t i = 1; i < ours.size(); ++i) {
    const bool has_value = i + 1 < ours.size() && !ours[i + 1].starts_with("--");
    if (ours[i] != "--private-dir") flags.push_back(has_value ? ours[i] + " " + ours[i + 1] : ours[i]);
    if (has_value) ++i;
  }
  return flags;
}

TEST(SandboxProgramTest, WritesACommandLineForTheProgram) {
  const process::Command wrapped = Wrap(Shell());
  EXPECT_EQ(wrapped.program, "/proc/self/fd/7");
  EXPECT_FALSE(wrapped.search_path);
  EXPECT_EQ(wrapped.cwd, "/w");
  EXPECT_EQ(wrapped.argv[0], "holdfast-linux-sandbox");
  EXPECT_THAT(Flags(Split(wrapped).ours),
              UnorderedElementsAre("--sandbox-policy-cwd /project", "--command-cwd /w", "--tool-path /tools",
                                   "--program-dir /opt/holdfast", "--permission-profile-fd 5", "--report-fd 6",
                                   "--program-fd 7", "--given-roots-fd 8", "--server-tmpdir /server/tmp"));
  EXPECT_THAT(Split(wrapped).commands, ElementsAre("/bin/sh", "-c", "true"));
}

TEST(SandboxProgramTest, PassesTheEnvironmentAsItIs) { EXPECT_THAT(Wrap(Shell()).env, ElementsAre(Pair("A", "1"))); }

TEST(SandboxProgramTest, SaysWhatTheSandboxAsksFor) {
  SandboxSpec spec = ReadOnly();
  spec.project_roots = {"/project", "/other"};
  spec.legacy_landlock = true;
  spec.proxies = wire::ManagedNetwork{.loopback_ports = {{80}}, .allow_local_binding = false};
  const Strings flags = Flags(Split(Wrap(Shell(), spec)).ours);
  EXPECT_THAT(flags, IsSupersetOf({"--project-root /project", "--project-root /other", "--use-legacy-landlock",
                                   R"(--managed-network {"loopbackPorts":[80],"allowLocalBinding":false})"}));
}

TEST(SandboxProgramTest, NamesTheCommandAsItIsTold) {
  process::Command command = Shell();
  command.argv[0] = "-sh";
  const Words words = Split(Wrap(command));
  EXPECT_THAT(Flags(words.ours), Contains("--arg0 -sh"));
  EXPECT_THAT(words.commands, ElementsAre("/bin/sh", "-c", "true"));
}

TEST(SandboxProgramTest, LeavesABareNameToTheCommandsPath) {
  process::Command command = Shell();
  command.program = command.argv[0] = "sh";
  command.search_path = "/bin";
  EXPECT_THAT(Split(Wrap(command)).commands, ElementsAre("sh", "-c", "true"));
}

// The program of a prepared command is not looked up in PATH: its name is that of a file in the command's directory.
TEST(SandboxProgramTest, KeepsABareNameOfAPreparedCommandFromThePath) {
  process::Command command = Shell();
  command.program = "tool";
  command.argv = {"tool", "x"};
  const Words words = Split(Wrap(command));
  EXPECT_THAT(words.commands, ElementsAre("./tool", "x"));
  EXPECT_THAT(Flags(words.ours), Contains("--arg0 tool"));
}

TEST(SandboxProgramTest, GivesTimeToCleanUpWhereThereCanBeMountPoints) {
  const auto grace_of = [](const SandboxSpec& sandbox) { return Wrap(Shell(), sandbox).wrapper.value().grace; };
  EXPECT_GE(grace_of(ReadOnly()), std::chrono::seconds(1));
  SandboxSpec files_as_they_are = ReadOnly();
  files_as_they_are.profile.policy.files.reset();
  EXPECT_EQ(grace_of(files_as_they_are).count(), 0);
  SandboxSpec without_mounts = ReadOnly();
  without_mounts.legacy_landlock = true;
  EXPECT_EQ(grace_of(without_mounts).count(), 0);
}

TEST(SandboxProgramTest, HandsOverThePolicyAndAPipe) {
  const process::Command wrapped = Wrap(Shell());
  ASSERT_TRUE(wrapped.wrapper);
  ASSERT_EQ(wrapped.wrapper->fds.size(), 4u);
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(sys::Read(wrapped.wrapper->fds[0]->get(), text.data(), text.size())));
  EXPECT_EQ(ParseProfile(text), ReadOnly().profile);
  ASSERT_EQ(::write(wrapped.wrapper->fds[1]->get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(sys::Read(wrapped.wrapper->report->get(), &byte, 1), 1);
  EXPECT_EQ(sys::Read(wrapped.wrapper->report->get(), &byte, 1), -EAGAIN);
}

TEST(SandboxProgramTest, GivesTheFileHelperLittleOfTheServersEnvironment) {
  ::setenv("HOLDFAST_SECRET", "x", 1);
  ::setenv("TMPDIR", "/somewhere", 1);
  const auto helper = Program().FileHelper(ReadOnly());
  ::unsetenv("TMPDIR");
  ASSERT_TRUE(helper);
  EXPECT_THAT(helper->env, Contains(Pair("TMPDIR", "/somewhere")));
  for (const auto& [name, value] : helper->env) {
    EXPECT_THAT((Strings{"PATH", "TMPDIR", "TMP", "TEMP"}), Contains(name));
  }
  EXPECT_EQ(helper->argv.back(), "--fs-helper");
  EXPECT_EQ(helper->cwd, "/");
}

TEST(SandboxProgramTest, PassesTheBubblewrapThatTheServerHasOpened) {
  const auto bubblewrap = std::make_shared<const OwnedFd>();
  const SandboxProgram program({.helper = SealedProgram(std::make_shared<const OwnedFd>()), .bubblewrap = bubblewrap},
                               "/tools", "");
  const auto wrapped = program.Wrap(Shell(), ReadOnly());
  ASSERT_TRUE(wrapped);
  EXPECT_THAT(Split(*wrapped).ours, Contains("--bwrap-fd"));
  EXPECT_EQ(wrapped->wrapper->fds.at(4), bubblewrap);
}

TEST(SandboxProgramTest, PassesTheSocketOfTheSupervisor) {
  const auto supervisor = std::make_shared<const OwnedFd>();
  const auto wrapped = Program().Wrap(Shell(), ReadOnly(), {.exec_supervisor = supervisor});
  ASSERT_TRUE(wrapped);
  EXPECT_THAT(Flags(Split(*wrapped).ours), Contains("--exec-supervisor-fd 9"));
  EXPECT_EQ(wrapped->wrapper->fds.at(4), supervisor);
}

TEST(SandboxProgramTest, PassesADescriptorThatTheCommandKeeps) {
  const auto kept = std::make_shared<const OwnedFd>();
  process::Command shell = Shell();
  shell.env = {{"API_KEY", "1"}, {"SOCKET", "old"}, {"Z", "2"}};
  const auto wrapped = Program().Wrap(shell, ReadOnly(), {.kept = KeptDescriptor{.name = "SOCKET", .fd = kept}});
  ASSERT_TRUE(wrapped);
  EXPECT_THAT(Flags(Split(*wrapped).ours), Contains("--keep-fd 9"));
  EXPECT_EQ(wrapped->wrapper->fds.at(4), kept);
  EXPECT_THAT(wrapped->env, ElementsAre(Pair("API_KEY", "1"), Pair("SOCKET", "9"), Pair("Z", "2")));
}

// All helpers add the roots of their commands to one list.
TEST(SandboxProgramTest, GivesEachHelperTheSameListOfRoots) {
  const SandboxProgram program = Program();
  const auto first = program.Wrap(Shell(), ReadOnly()), second = program.FileHelper(ReadOnly());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->wrapper->fds.at(3), *program.given_roots());
  EXPECT_EQ(second->wrapper->fds.at(3), *program.given_roots());
  EXPECT_EQ(program.GuardedFor(ReadOnly()).given_roots_fd, (*program.given_roots())->get());
}

TEST(SandboxProgramTest, SaysWhyThereIsNoHelper) {
  const SandboxProgram program({.helper = SealedProgram::Begin("/no/such/program")}, "/tools", "");
  const auto wrapped = program.Wrap(Shell(), ReadOnly());
  ASSERT_FALSE(wrapped);
  EXPECT_EQ(wrapped.error().message, "open /no/such/program: No such file or directory");
}

// A command could replace the file, and the next start would run the replacement without a sandbox.
TEST(SandboxProgramTest, RunsTheHelperAsItWasWhenItWasOpened) {
  const support::ScratchDir dir;
  const std::string path = dir.Write("program", "original");
  const auto sealed = SealedProgram::Begin(path).Await();
  ASSERT_TRUE(sealed);
  dir.Write("program", "replaced");
  std::string text(64, '\0');
  text.resize(static_cast<size_t>(::pread((*sealed)->get(), text.data(), text.size(), 0)));
  EXPECT_EQ(text, "original");
  EXPECT_LT(::pwrite((*sealed)->get(), "x", 1, 0), 0);
}

// The copy takes some time. A client may do anything after the wait for it, also write to the file.
TEST(SandboxProgramTest, WaitsForTheWholeHelper) {
  constexpr off_t kBytes = 64 << 20;
  const support::ScratchDir dir;
  const std::string path = dir.Write("program", "");
  const OwnedFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), kBytes), 0);
  ASSERT_EQ(::pwrite(file.get(), "z", 1, kBytes - 1), 1);
  const auto sealed = SealedProgram::Begin(path);
  const SandboxProgram program({.helper = sealed}, "/tools", "");
  program.AwaitHelper();
  ASSERT_EQ(::pwrite(file.get(), "x", 1, kBytes - 1), 1);
  ASSERT_TRUE(sealed.Await());
  char last = 0;
  EXPECT_EQ(::pread((*sealed.Await())->get(), &last, 1, kBytes - 1), 1);
  EXPECT_EQ(last, 'z');
}

SandboxSpec WithNetwork() {
  SandboxSpec spec = ReadOnly();
  spec.profile.policy.network = Network::kEnabled;
  return spec;
}

// The environment of the command, which the helper gets, would name others.
TEST(SandboxProgramTest, HidesThePrivateServersOfTheServersEnvironment) {
  const Strings ours = Split(Wrap(Shell())).ours;
  for (const std::string& place : runtime_dir::PlacesOfRuntimeDir()) {
    const auto flag = std::ranges::find(ours, place);
    ASSERT_NE(flag, ours.end()) << place;
    EXPECT_EQ(*(flag - 1), "--private-dir");
  }
}

TEST(SandboxProgramTest, HidesTheSocketOfTheServerFromEverything) {
  SandboxProgram program = Program();
  program.KeepCommandsFrom(ServerAccess::OfSocket("/run/holdfast.sock"));
  const auto command = program.Wrap(Shell(), ReadOnly()), helper = program.FileHelper(ReadOnly());
  ASSERT_TRUE(command && helper);
  for (const Strings& words : {command->argv, helper->argv}) {
    const auto flag = std::ranges::find(words, "--hide");
    ASSERT_NE(flag, words.end());
    EXPECT_EQ(*(flag + 1), "/run/holdfast.sock");
  }
}

TEST(SandboxProgramTest, HidesTheTlsKeyWhereItReallyLies) {
  const support::ScratchDir dir;
  const std::string key = dir.path() + "/key.pem", link = dir.path() + "/link.pem";
  std::ofstream(key) << "key";
  std::filesystem::create_symlink(key, link);
  auto access = ServerAccess::OfSecret("s3cret");
  access.Hide(link);
  SandboxProgram program = Program();
  program.KeepCommandsFrom(std::move(access));
  const auto command = program.Wrap(Shell(), ReadOnly());
  ASSERT_TRUE(command);
  const auto flag = std::ranges::find(command->argv, "--hide");
  ASSERT_NE(flag, command->argv.end());
  EXPECT_EQ(*(flag + 1), key);
}

// A client may pass on a variable that contains the URL of the server.
TEST(SandboxProgramTest, TellsNoCommandTheSecretOfTheServer) {
  SandboxProgram program = Program();
  program.KeepCommandsFrom(ServerAccess::OfSecret("s3cret"));
  process::Command command = Shell();
  command.env = {{"URL", "ws://127.0.0.1:1/s3cret"}, {"A", "1"}};
  const auto wrapped = program.Wrap(command, ReadOnly());
  ASSERT_TRUE(wrapped);
  EXPECT_THAT(wrapped->env, ElementsAre(Pair("A", "1")));
}

TEST(SandboxProgramTest, ShutsTheOpenPortOfTheServerForACommandWithANetwork) {
  SandboxProgram program = Program();
  program.KeepCommandsFrom(ServerAccess::OfOpenPort(4711));
  const auto with = program.Wrap(Shell(), WithNetwork()), without = program.Wrap(Shell(), ReadOnly());
  ASSERT_TRUE(with && without);
  EXPECT_THAT(with->argv, Contains("--port-ruleset-fd"));
  EXPECT_THAT(without->argv, testing::Not(Contains("--port-ruleset-fd")));
  for (const Strings& words : {with->argv, without->argv}) {
    const auto flag = std::ranges::find(words, "--shut-port");
    ASSERT_NE(flag, words.end());
    EXPECT_EQ(*(flag + 1), "4711");
  }
}

}  // namespace
}  // namespace holdfast::sandbox
