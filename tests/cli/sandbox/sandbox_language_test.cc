// Tests of the options by which `holdfast sandbox`, `holdfast run` and `holdfast mcp-server` describe a sandbox.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "cli/commands.h"
#include "cli/sandbox/sandbox_options.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCommands[] = {"sandbox", "run", "mcp-server"};

// Returns the names of the options that the three commands share.
std::vector<std::string> SharedNames() {
  std::vector<std::string> names;
  for (const Option& option : WithSandboxOptions({}, "")) names.push_back(option.name());
  return names;
}

TEST(SandboxLanguageTest, HasTheOptionsThatTheDocumentsName) {
  EXPECT_THAT(SharedNames(),
              testing::UnorderedElementsAre("--read-only", "--workspace-write", "-w", "--deny", "--network", "--config",
                                            "--profile", "--explain", "--sandbox"));
}

TEST(SandboxLanguageTest, EveryCommandHasAllOptionsAndAnExampleOfEach) {
  for (const char* name : kCommands) {
    const Command& command = *Table().Find(name);
    for (const std::string& option : SharedNames()) {
      EXPECT_EQ(std::ranges::count(command.options, option, &Option::name), 1) << name << " " << option;
      const auto shows = [&](const Example& example) { return (example.line + " ").contains(" " + option + " "); };
      EXPECT_TRUE(std::ranges::any_of(command.examples, shows)) << name << " has no example of " << option;
    }
  }
}

class OneLanguageTest : public CommandFixture {
 protected:
  OneLanguageTest() {
    scratch_.Write("team.toml", R"(
default_permissions = "work"
[permissions.work.filesystem]
":root" = "read"
"~/cache" = "write"
[permissions.work.filesystem.":project_roots"]
"out" = "write"
[permissions.other.filesystem]
":root" = "read"
)");
    scratch_.Write("old.toml", R"(
model = "m"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
writable_roots = ["/srv/data"]
exclude_slash_tmp = true
)");
    scratch_.Write("landlock.toml", "[features]\nuse_legacy_landlock = true\n");
    scratch_.Write("box.json", R"({"sandboxPolicy":{"type":"workspace-write","network_access":true},"cwd":"/srv"})");
  }

  std::string Explained(const std::string& options) { return Output("holdfast sandbox " + options + " --explain"); }
};

TEST_F(OneLanguageTest, MeansTheSameInEveryCommand) {
  for (const std::string options :
       {"--read-only", "--workspace-write", "--sandbox read-only", "--sandbox workspace-write", "--sandbox none",
        "-w out", "-w /srv/data --deny .env --deny '*.key'", "--network", "--profile workspace-write",
        "--config team.toml", "--config team.toml --profile other", "--sandbox team.toml", "--config old.toml",
        "--workspace-write --config old.toml -w out", "--read-only --config old.toml", "--sandbox box.json",
        "--sandbox box.json -w out", "--config landlock.toml"}) {
    const std::string plan = Explained(options);
    EXPECT_EQ(Output("holdfast run " + options + " --explain"), plan) << options;
    EXPECT_EQ(Output("holdfast mcp-server " + options + " --explain < /dev/null"), plan) << options;
  }
}

TEST_F(OneLanguageTest, EachOptionHasItsEffect) {
  const std::string read_only = Explained("");
  EXPECT_EQ(Explained("--read-only"), read_only);
  EXPECT_THAT(read_only, Not(HasSubstr("writable " + scratch_.path())));
  EXPECT_THAT(Explained("--workspace-write"), HasSubstr("writable " + scratch_.path() + "\n"));
  EXPECT_EQ(Explained("--sandbox workspace-write"), Explained("--workspace-write"));
  EXPECT_EQ(Explained("--profile workspace-write"), Explained("--workspace-write"));
  EXPECT_THAT(Output("mkdir out; holdfast sandbox -w out --explain"), HasSubstr("writable " + Path("out") + "\n"));
  EXPECT_THAT(Output("touch .env; holdfast sandbox --workspace-write --deny .env --explain"), HasSubstr(Path(".env")));
  EXPECT_THAT(read_only, HasSubstr("network none"));
  EXPECT_THAT(Explained("--network"), Not(HasSubstr("network none")));
  EXPECT_EQ(Explained("--sandbox none"), "no sandbox\n");
}

TEST_F(OneLanguageTest, AFileChoosesByItself) {
  Output("mkdir -p out home/cache");
  const std::string home = "HOME=$PWD/home holdfast sandbox ";
  const std::string work = Output(home + "--config team.toml --explain");
  EXPECT_THAT(work,
              AllOf(HasSubstr("writable " + Path("out") + "\n"), HasSubstr("writable " + Path("home/cache") + "\n")));
  EXPECT_EQ(Output(home + "--sandbox team.toml --explain"), work);
  EXPECT_EQ(Output(home + "--config team.toml --profile work --explain"), work);
  EXPECT_EQ(Explained("--config team.toml --profile other"), Explained("--read-only"));
}

// The file would otherwise be ignored, and its user believe in a sandbox that is not there.
TEST_F(OneLanguageTest, AnOldSandboxModeIsObeyed) {
  EXPECT_THAT(Explained("--config old.toml"),
              AllOf(HasSubstr("writable " + scratch_.path() + "\n"), Not(HasSubstr("writable /tmp\n"))));
  EXPECT_THAT(Explained("--workspace-write --config old.toml"), Not(HasSubstr("writable /tmp\n")));
  EXPECT_EQ(Explained("--read-only --config old.toml"), Explained("--read-only"));
}

TEST_F(OneLanguageTest, MistakesHaveTheSameWordsInEveryCommand) {
  scratch_.Write("typo.toml", "sandbox_mod = \"read-only\"\n");
  scratch_.Write("open.toml", "[permissions.a.filesystem]\n\":root\" = \"read\"\n");
  const struct {
    std::string options, message;
  } mistakes[] = {
      {"--config typo.toml", "profile typo.toml:1: sandbox_mod: is not a known key"},
      {"--config open.toml", "profile open.toml: chooses none of its profiles; name one by --profile: a"},
      {"--config none.toml", "open none.toml: No such file or directory"},
      {"--config team.toml --profile none",
       "profile team.toml: has no table permissions.none; its profiles are other, work"},
      {"--profile none", "unknown profile none; use read-only or workspace-write"},
      {"--sandbox nonsense", "--sandbox: \"nonsense\" is neither read-only, workspace-write nor none, nor a file"},
      {"--sandbox box.json --config team.toml", "--sandbox box.json and --config team.toml are two sandboxes"},
      {"--sandbox none -w out", "-w and --deny need a sandbox that restricts files"},
      {"--read-only -w ''", "-w \"\": is empty"},
      {"--read-only --workspace-write", "--read-only"},
      {"--sandbox read-only --profile work", "--profile"},
  };
  for (const auto& [options, message] : mistakes) {
    EXPECT_THAT(Refusal("holdfast sandbox " + options + " -- true", 2), HasSubstr(message));
    EXPECT_THAT(Refusal("holdfast run " + options + " --explain", 2), HasSubstr(message));
    EXPECT_THAT(Refusal("holdfast mcp-server " + options + " < /dev/null", 2), HasSubstr(message));
  }
}

class SandboxedRunTest : public ServedCommandFixture {};

TEST_F(SandboxedRunTest, HasWhatTheOptionsGrant) {
  Output("mkdir out other; echo secret > .env");
  EXPECT_EQ(Output("holdfast run -w out -- touch out/made; ls out"), "made\n");
  EXPECT_EQ(Run("holdfast run -w out -- touch other/made").status, 1);
  EXPECT_EQ(Output("cd other; holdfast run -C ../out -w . -- touch made2; ls ../out"), "made\nmade2\n");
  EXPECT_EQ(Output("holdfast run --read-only -- cat .env"), "secret\n");
  EXPECT_NE(Run("holdfast run --deny .env -- cat .env").status, 0);
  EXPECT_NE(Run("holdfast run --deny '*.env' -- cat .env").status, 0);
  EXPECT_EQ(Output("holdfast run --workspace-write -- sh -c 'echo x > other/x; cat other/x'"), "x\n");
  const std::string network = Output("readlink /proc/self/ns/net");
  EXPECT_NE(Output("holdfast run --read-only -- readlink /proc/self/ns/net"), network);
  EXPECT_EQ(Output("holdfast run --network -- readlink /proc/self/ns/net"), network);
}

TEST_F(SandboxedRunTest, HasTheProfileOfAFile) {
  Output("mkdir out");
  scratch_.Write("p.toml",
                 "[permissions.p.filesystem]\n\":root\" = \"read\"\n"
                 "[permissions.p.filesystem.\":project_roots\"]\nout = \"write\"\n");
  EXPECT_EQ(Output("holdfast run --config p.toml --profile p -- touch out/made; ls out"), "made\n");
  EXPECT_EQ(Run("holdfast run --config p.toml --profile p -- touch made").status, 1);
}

TEST_F(SandboxedRunTest, IsNotSandboxedIfTheSandboxIsNone) {
  EXPECT_EQ(Output("holdfast run --sandbox none -- touch made; ls made"), "made\n");
  EXPECT_EQ(Output("holdfast run --explain"), "no sandbox\n");
}

TEST_F(SandboxedRunTest, NeedsACommand) {
  EXPECT_THAT(Refusal("holdfast run --read-only", 2), HasSubstr("no command to run"));
}

// Paths of a sandbox are those of the server's machine. This server has another home directory.
TEST_F(SandboxedRunTest, ResolvesPathsWhereTheServerIs) {
  Output("mkdir -p there/out home/cache");
  scratch_.Write("p.toml", "[permissions.p.filesystem]\n\":root\" = \"read\"\n\"~/cache\" = \"write\"\n");
  const auto server = support::ServerProcess::Start({.env = {"HOME=" + Path("home")}});
  const std::string run = "holdfast run --server " + server.url() + " --cwd " + Path("there") + " ";
  EXPECT_EQ(Output(run + "-w out -- touch out/made; ls there/out"), "made\n");
  EXPECT_EQ(Output(run + "--config p.toml --profile p -- touch " + Path("home/cache/made") + "; ls home/cache"),
            "made\n");
  EXPECT_THAT(Refusal(run + "--read-only --explain", 2), HasSubstr("the server may be on another one"));
}

}  // namespace
}  // namespace holdfast::cli
