#include "sandbox/plan/plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/text_of_plan.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

// $D stands for the scratch directory in the expected plans. The names in rules are relative to it.
class PlanTest : public testing::Test {
 protected:
  PlanTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {}

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  void MakeDir(std::string_view name) { std::filesystem::create_directories(Path(name)); }
  void MakeFile(std::string_view name) { scratch_.Write(name, "text"); }

  void Read(std::string_view name) { Add(Path(name), Access::kRead); }
  void Write(std::string_view name) { Add(Path(name), Access::kWrite); }
  void Deny(std::string_view name) { Add(Path(name), Access::kDeny); }
  void Add(std::string path, Access access, IfMissing if_missing = IfMissing::kProtect) {
    resolution_.rules.push_back({.path = std::move(path), .access = access, .if_missing = if_missing});
  }
  void ReadEverything() { Add("/", Access::kRead); }

  std::string PlanText() {
    if (options_.command_cwd.empty()) options_.command_cwd = directory_;
    return TextOf(MakePlan(resolution_, options_), directory_);
  }

  support::ScratchDir scratch_;
  std::string directory_;
  Resolution resolution_;
  PlanOptions options_;
};

TEST_F(PlanTest, ReadOnlyPolicyHasTheWholeFileSystemReadOnly) {
  ReadEverything();
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
network none
filter restricted-network
landlock read /
landlock write /dev
working directory $D
)");
}

TEST_F(PlanTest, WritableRootLiesOverTheReadOnlyBaseAndProtectedNamesInItAreReadOnly) {
  MakeDir("ws/.git");
  ReadEverything();
  Write("ws");
  for (const char* name : {"ws/.git", "ws/.codex", "ws/.agents", "ws/.aws"}) Read(name);
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
writable $D/ws
empty directory $D/ws/.agents 0555 (placeholder)
empty directory $D/ws/.aws 0555 (placeholder)
empty directory $D/ws/.codex 0555 (placeholder)
read-only $D/ws/.git
seal $D/ws/.codex
seal $D/ws/.aws
seal $D/ws/.agents
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/ws
working directory $D
)");
}

TEST_F(PlanTest, GitDirectoryElsewhereInAWritableRootIsReadOnlyAndCannotBeMoved) {
  MakeFile("ws/.git");
  MakeDir("out/repos/gd/hooks");
  ReadEverything();
  Write("ws");
  Write("out");
  Read("ws/.git");
  Read("out/repos/gd");
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
writable $D/out
writable $D/ws
pinned $D/out/repos
read-only $D/ws/.git
read-only $D/out/repos/gd
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/out
landlock write $D/ws
working directory $D
)");
}

TEST_F(PlanTest, NarrowerWriteReopensADeniedDirectory) {
  MakeDir("repo/a/b");
  ReadEverything();
  Write("repo");
  Deny("repo/a");
  Write("repo/a/b");
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
writable $D/repo
empty directory $D/repo/a 0111
writable $D/repo/a/b
seal $D/repo/a
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/repo
landlock write $D/repo/a/b
working directory $D
)");
}

TEST_F(PlanTest, OrderOfTheRulesDoesNotMatter) {
  MakeDir("repo/a/b/c");
  ReadEverything();
  Write("repo");
  Deny("repo/a");
  Write("repo/a/b");
  Deny("repo/a/b/c");
  const std::string text = PlanText();
  std::ranges::reverse(resolution_.rules);
  EXPECT_EQ(PlanText(), text);
  EXPECT_THAT(text, HasSubstr("empty directory $D/repo/a/b/c 0000\nseal $D/repo/a/b/c\nseal $D/repo/a\n"));
}

TEST_F(PlanTest, WayDownThroughADeniedDirectoryIsMade) {
  MakeFile("repo/a/x/y/file");
  MakeDir("repo/a/x/dir");
  ReadEverything();
  Deny("repo/a");
  Deny("repo/a/x");
  Read("repo/a/x/dir");
  Write("repo/a/x/y/file");
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
empty directory $D/repo/a 0111
make directory $D/repo/a/x
read-only $D/repo/a/x/dir
make directory $D/repo/a/x/y
writable $D/repo/a/x/y/file
seal $D/repo/a
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/repo/a/x/y/file
working directory $D
)");
}

TEST_F(PlanTest, NarrowerWriteReopensAReadOnlyDirectory) {
  MakeDir("repo/a/b");
  ReadEverything();
  Write("repo");
  Read("repo/a");
  Write("repo/a/b");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/repo\nread-only $D/repo/a\nwritable $D/repo/a/b\nnetwork"));
}

TEST_F(PlanTest, WhatIsDeniedIsEmptyAndHasNoPermissions) {
  MakeDir("out/secrets");
  MakeFile("out/secret.txt");
  ASSERT_EQ(::mkfifo(Path("out/fifo").c_str(), 0600), 0);
  ReadEverything();
  Deny("out/secrets");
  Deny("out/secret.txt");
  Deny("out/fifo");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\n"
                                    "empty file $D/out/fifo 0000\n"
                                    "empty file $D/out/secret.txt 0000\n"
                                    "empty directory $D/out/secrets 0000\n"
                                    "seal $D/out/secrets\n"
                                    "network none\n"));
}

TEST_F(PlanTest, AncestorsOfAReadOnlyPathCannotBeRenamed) {
  MakeFile("ws/l1/l2/locked/f");
  MakeFile("ws/l1/l2/other");
  ReadEverything();
  Write("ws");
  Read("ws/l1/l2/locked");
  Deny("ws/l1/l2/other");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\n"
                                    "pinned $D/ws/l1\n"
                                    "pinned $D/ws/l1/l2\n"
                                    "read-only $D/ws/l1/l2/locked\n"
                                    "empty file $D/ws/l1/l2/other 0000\n"
                                    "network none\n"));
}

TEST_F(PlanTest, WritableRootBelowAnotherCannotBeRenamed) {
  MakeDir("wide/x/ws");
  ReadEverything();
  Write("wide");
  Write("wide/x/ws");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/wide\npinned $D/wide/x\nwritable $D/wide/x/ws\nnetwork"));
}

TEST_F(PlanTest, MissingPathIsKeptFromExistingAtItsFirstMissingName) {
  MakeDir("ws/a");
  ReadEverything();
  Write("ws");
  Deny("ws/a/nope/deep/file");
  Read("ws/locked");
  Read("ws/a/.git/hooks");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\n"
                                    "pinned $D/ws/a\n"
                                    "empty file $D/ws/locked 0444 (placeholder)\n"
                                    "empty directory $D/ws/a/.git 0555 (placeholder)\n"
                                    "empty file $D/ws/a/nope 0000 (placeholder)\n"
                                    "seal $D/ws/a/.git\n"
                                    "network none\n"));
}

TEST_F(PlanTest, TwoRulesBelowOneMissingNameShareAPlaceholder) {
  MakeDir("ws");
  ReadEverything();
  Write("ws");
  Read("ws/m/a");
  Deny("ws/m/b");
  Read("ws/m/c");
  options_.command_cwd = directory_;
  const auto plan = MakePlan(resolution_, options_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->placeholders.size(), 1u);
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\nempty file $D/ws/m 0000 (placeholder)\nnetwork"));
}

TEST_F(PlanTest, MissingPathThatNothingCanCreateNeedsNothing) {
  MakeDir("ws");
  ReadEverything();
  Write("ws");
  Write("ws/missing/root");
  Write("elsewhere");
  Deny("secret");
  Read("readable");
  Add(Path("ws/optional"), Access::kRead, IfMissing::kSkip);
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nwritable $D/ws\nnetwork none\n"));
}

TEST_F(PlanTest, PlaceholderOfAnotherSandboxIsAsGoodAsMissing) {
  MakeDir("ws/.codex");
  MakeDir("ws/.agents");
  MakeFile("ws/.agents/theirs");
  scratch_.Write("ws/nope", "");
  ASSERT_EQ(::chmod(Path("ws/.codex").c_str(), 01555), 0);
  ASSERT_EQ(::chmod(Path("ws/.agents").c_str(), 01555), 0);
  ASSERT_EQ(::chmod(Path("ws/nope").c_str(), 01444), 0);
  ReadEverything();
  Write("ws");
  Read("ws/.codex");
  Read("ws/.agents");
  Deny("ws/nope/deep");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\n"
                                    "read-only $D/ws/.agents\n"
                                    "empty directory $D/ws/.codex 0555 (placeholder)\n"
                                    "empty file $D/ws/nope 0000 (placeholder)\n"
                                    "seal"));
  ASSERT_EQ(::chmod(Path("ws/.agents").c_str(), 0755), 0);
}

TEST_F(PlanTest, FileOnTheWayStaysAFile) {
  MakeFile("ws/a/file");
  ReadEverything();
  Write("ws");
  Deny("ws/a/file/x/y");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\npinned $D/ws/a\npinned $D/ws/a/file\nnetwork"));
}

TEST_F(PlanTest, MatchesOfPatternsAreDenied) {
  MakeFile("ws/.env");
  MakeFile("ws/sub/x.env");
  ReadEverything();
  Write("ws");
  resolution_.denied_by_pattern = {Path("ws/.env"), Path("ws/sub/x.env"), Path("ws/gone.env")};
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\n"
                                    "empty file $D/ws/.env 0000\n"
                                    "pinned $D/ws/sub\n"
                                    "empty file $D/ws/sub/x.env 0000\n"
                                    "network none\n"));
}

TEST_F(PlanTest, MatchInsideAWritableFileRuleIsDeniedAllTheSame) {
  MakeFile("ws/.env");
  ReadEverything();
  Write("ws/.env");
  resolution_.denied_by_pattern = {Path("ws/.env")};
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nempty file $D/ws/.env 0000\nnetwork"));
}

TEST_F(PlanTest, WithRestrictedReadingOnlyWhatIsGrantedIsThere) {
  MakeDir("data/private");
  MakeDir("data/sub");
  MakeDir("ws");
  MakeFile("one.txt");
  Read("data");
  Read("data/sub");
  Deny("data/private");
  Deny("unseen");
  Read("one.txt");
  Write("ws");
  EXPECT_EQ(PlanText(), R"(empty root
private /dev
fresh read-only /proc
read-only $D/data
read-only $D/one.txt
writable $D/ws
empty directory $D/data/private 0000
seal $D/data/private
seal /
network none
filter restricted-network
landlock list /
landlock write /dev
landlock read /proc
landlock read $D/data
landlock read $D/one.txt
landlock write $D/ws
working directory $D
)");
}

TEST_F(PlanTest, DeniedRootIsAnEmptyRoot) {
  MakeDir("data");
  Add("/", Access::kDeny);
  Read("data");
  EXPECT_THAT(PlanText(), HasSubstr("empty root\nprivate /dev\nfresh read-only /proc\nread-only $D/data\nseal /\n"));
}

TEST_F(PlanTest, MinimalReadingHasTheSystemsDirectories) {
  MakeDir("ws");
  resolution_.minimal = true;
  Write("ws");
  const std::string text = PlanText();
  EXPECT_THAT(text, HasSubstr("empty root\nprivate /dev\nfresh read-only /proc\n"));
  EXPECT_THAT(text, HasSubstr("\nread-only /etc\n"));
  EXPECT_THAT(text, HasSubstr("\nread-only /usr\n"));
  EXPECT_THAT(text, HasSubstr("\nlandlock read /usr\n"));
  EXPECT_THAT(text, Not(HasSubstr("/var")));
  // The plan makes the link /bin if /bin is a link outside.
  const bool is_merged = std::filesystem::is_symlink("/bin");
  EXPECT_THAT(text, HasSubstr(is_merged ? "\nlink /bin -> usr/bin\n" : "\nread-only /bin\n"));
}

TEST_F(PlanTest, MinimalReadingHoldsAgainstADeniedRoot) {
  resolution_.minimal = true;
  Add("/", Access::kDeny);
  EXPECT_THAT(PlanText(), HasSubstr("\nread-only /usr\n"));
}

TEST_F(PlanTest, DenialsHoldAgainstMinimalReading) {
  resolution_.minimal = true;
  Add("/usr", Access::kDeny);
  Add("/etc/passwd", Access::kDeny);
  const std::string text = PlanText();
  EXPECT_THAT(text, Not(HasSubstr("/usr\n")));
  EXPECT_THAT(text, Not(HasSubstr("usr/bin")));
  EXPECT_THAT(text, HasSubstr("\nread-only /etc\nempty file /etc/passwd 0000\n"));
}

TEST_F(PlanTest, MinimalReadingAddsNothingToAReadableRoot) {
  ReadEverything();
  const std::string text = PlanText();
  resolution_.minimal = true;
  EXPECT_EQ(PlanText(), text);
}

TEST_F(PlanTest, WritableRootDirectoryKeepsDevicesAndDenialsApart) {
  MakeFile("a/secret");
  Add("/", Access::kWrite);
  Deny("a/secret");
  const std::string text = PlanText();
  EXPECT_THAT(text, HasSubstr("writable /\nprivate /dev\nfresh /proc, its knobs read-only\npinned /"));
  EXPECT_THAT(text, HasSubstr("pinned $D\npinned $D/a\nempty file $D/a/secret 0000\nnetwork none\n"));
  EXPECT_THAT(text, HasSubstr("landlock write /\nlandlock write /dev\nworking"));
}

TEST_F(PlanTest, WithoutAFreshProcTheOldOneIsReadOnly) {
  options_.fresh_proc = false;
  ReadEverything();
  EXPECT_THAT(PlanText(), HasSubstr("read-only /\nprivate /dev\nnetwork"));
  resolution_.rules = {{.path = "/", .access = Access::kWrite}};
  EXPECT_THAT(PlanText(), HasSubstr("writable /\nprivate /dev\nread-only /proc\nnetwork"));
  resolution_.rules = {};
  EXPECT_THAT(PlanText(), HasSubstr("empty root\nprivate /dev\nseal /\nnetwork"));
  EXPECT_THAT(PlanText(), Not(HasSubstr("/proc")));
}

TEST_F(PlanTest, ThePrivateDevAndProcAreNotGrantedAnew) {
  ReadEverything();
  const std::string text = PlanText();
  Add("/dev", Access::kWrite);
  Add("/proc", Access::kWrite);
  Add("/proc/sys", Access::kWrite);
  Add("/dev/no-such-device", Access::kDeny);
  EXPECT_EQ(PlanText(), text);
}

TEST_F(PlanTest, SingleDevicesCanBeGrantedAndDenied) {
  Add("/", Access::kWrite);
  Add("/dev/zero", Access::kWrite);
  Add("/dev/full", Access::kDeny);
  EXPECT_THAT(PlanText(), HasSubstr("empty file /dev/full 0000\nwritable /dev/zero\nnetwork"));
}

TEST_F(PlanTest, ThePrivateDevIsNotThereWhenItIsDenied) {
  Add("/dev", Access::kDeny);
  EXPECT_THAT(PlanText(),
              HasSubstr("private /dev\nfresh read-only /proc\nempty directory /dev 0000\nseal /dev\nseal /\n"));
}

TEST_F(PlanTest, PartsOfProcCanBeDeniedButNotProcesses) {
  Add("/proc/cpuinfo", Access::kDeny);
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nempty file /proc/cpuinfo 0000\nseal /\n"));
  Add("/proc/1/environ", Access::kDeny);
  EXPECT_EQ(PlanText(), "deny /proc/1/environ: /proc has other processes inside of the sandbox");
  resolution_.rules.back().path = "/proc/self/environ";
  EXPECT_EQ(PlanText(), "deny /proc/self/environ: /proc has other processes inside of the sandbox");
}

TEST_F(PlanTest, UnrestrictedFilesWithANetworkHaveAFilterAndProcessesOfTheirOwn) {
  resolution_.unrestricted = true;
  resolution_.network = Network::kEnabled;
  EXPECT_EQ(PlanText(), R"(writable /
writable /dev
fresh /proc, its knobs read-only
network as it is
filter open-network
working directory $D
)");
}

TEST_F(PlanTest, UnrestrictedFilesWithoutANetworkKeepTheirDevices) {
  resolution_.unrestricted = true;
  EXPECT_EQ(PlanText(), R"(writable /
writable /dev
fresh /proc, its knobs read-only
network none
filter restricted-network
working directory $D
)");
}

TEST_F(PlanTest, NetworkFollowsThePolicyUnlessThereIsAProxy) {
  ReadEverything();
  resolution_.network = Network::kEnabled;
  EXPECT_THAT(PlanText(), HasSubstr("network as it is\nfilter open-network\n"));
  options_.proxy_network = ProxyNetwork::kListening;
  EXPECT_THAT(PlanText(), HasSubstr("network none\nfilter proxy-only\n"));
  resolution_.network = Network::kRestricted;
  EXPECT_THAT(PlanText(), HasSubstr("network none\nfilter proxy-only\n"));
  options_.proxy_network = ProxyNetwork::kNoListening;
  EXPECT_THAT(PlanText(), HasSubstr("network none\nfilter proxy-no-listening\n"));
}

TEST_F(PlanTest, WorkingDirectoryIsNamedWithoutLinksIfItExists) {
  MakeDir("real");
  std::filesystem::create_directory_symlink(Path("real"), Path("link"));
  ReadEverything();
  options_.command_cwd = Path("link");
  EXPECT_THAT(PlanText(), HasSubstr("working directory $D/real\n"));
  options_.command_cwd = Path("link/missing");
  EXPECT_THAT(PlanText(), HasSubstr("working directory $D/link/missing\n"));
}

TEST_F(PlanTest, NamesCannotPassForLinesOfTheText) {
  MakeFile("evil\nwritable ");
  ReadEverything();
  Deny("evil\nwritable ");
  EXPECT_THAT(PlanText(), HasSubstr("empty file \"$D/evil\\nwritable \" 0000\n"));
}

TEST_F(PlanTest, DirectoryThatCannotBeSearchedIsARefusalWhereTheCommandCouldOpenIt) {
  if (::geteuid() == 0) GTEST_SKIP() << "root searches every directory";
  MakeFile("ws/closed/secret");
  MakeFile("out/closed/secret");
  for (const char* name : {"ws/closed", "out/closed"}) ASSERT_EQ(::chmod(Path(name).c_str(), 0), 0);
  ReadEverything();
  Write("ws");
  Deny("out/closed/secret");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nwritable $D/ws\nnetwork"));
  Deny("ws/closed/secret");
  EXPECT_EQ(PlanText(), "lstat " + Path("ws/closed/secret") + ": Permission denied");
  for (const char* name : {"ws/closed", "out/closed"}) ASSERT_EQ(::chmod(Path(name).c_str(), 0755), 0);
}

TEST_F(PlanTest, NameThatNoFileCanHaveNeedsNothing) {
  MakeDir("ws");
  ReadEverything();
  Write("ws");
  Deny("ws/" + std::string(300, 'x') + "/y");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nwritable $D/ws\nnetwork"));
}

// No mount covers a missing path, but the directories above it are pinned.
TEST_F(PlanTest, MissingNamesAreLeftToACallerThatRefusesThem) {
  ReadEverything();
  MakeDir("root/below");
  Write("root");
  Read("root/.git");
  Deny("root/below/secret/key");
  Deny("root/below/secret");
  options_.missing_names = MissingNames::kRefused;
  const std::string text = PlanText();
  EXPECT_THAT(text, HasSubstr("writable $D/root\npinned $D/root/below\n"));
  EXPECT_THAT(text, HasSubstr("absent $D/root/.git\nabsent $D/root/below/secret\n"));
  EXPECT_THAT(text, Not(HasSubstr("placeholder")));
  EXPECT_THAT(text, Not(HasSubstr("empty")));
}

}  // namespace
}  // namespace holdfast::sandbox
