#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/text_of_plan.h"
#include "sandbox/resolve/protected_paths.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

// $D stands for the scratch directory in the expected texts and errors. The names in rules are relative to it.
class PlanLinksTest : public testing::Test {
 protected:
  PlanLinksTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    for (const char* name : {"ws", "out/dir", "out/other"}) std::filesystem::create_directories(Path(name));
    scratch_.Write("out/dir/file", "text");
  }

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  void Link(std::string_view name, const std::string& target) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::filesystem::create_symlink(target, Path(name));
  }

  void Add(std::string_view name, Access access) {
    resolution_.rules.push_back({.path = name == "/" ? "/" : Path(name), .access = access});
  }
  void Read(std::string_view name) { Add(name, Access::kRead); }
  void Write(std::string_view name) { Add(name, Access::kWrite); }
  void Deny(std::string_view name) { Add(name, Access::kDeny); }

  std::string PlanText() { return TextOf(MakePlan(resolution_, {.command_cwd = directory_}), directory_); }

  support::ScratchDir scratch_;
  std::string directory_;
  Resolution resolution_;
};

TEST_F(PlanLinksTest, RuleOnALinkThatTheCommandCouldChangeIsRefused) {
  Link("ws/.git", Path("out/dir"));
  Read("/");
  Write("ws");
  Read("ws/.git");
  EXPECT_EQ(PlanText(), "read $D/ws/.git: crosses the link $D/ws/.git, which the command could change");
}

TEST_F(PlanLinksTest, ProtectedNamesThatAreLinksArePinned) {
  std::filesystem::create_directories(Path("ws/area"));
  std::filesystem::create_directories(Path("ws/hop"));
  Link("ws/.git", Path("out/dir"));
  Link("ws/.codex", "hop/../area");
  Link("ws/.agents", "/proc/1/root");
  Link("ws/.aws", "gone");
  Read("/");
  Write("ws");
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_THAT(PlanText(), HasSubstr(R"(
writable $D/ws
pinned link $D/ws/.agents
pinned link $D/ws/.aws
pinned link $D/ws/.codex
pinned link $D/ws/.git
read-only $D/ws/area
empty file $D/ws/gone 0444 (placeholder)
pinned $D/ws/hop
network none
)"));
}

// The command could otherwise name any place that it may then write.
TEST_F(PlanLinksTest, WriteRuleForAProtectedNameThatIsALinkIsRefused) {
  Link("ws/.git", Path("out/dir"));
  Read("/");
  Write("ws");
  Write("ws/.git");
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_EQ(PlanText(), "write $D/ws/.git: crosses the link $D/ws/.git, which the command could change");
}

TEST_F(PlanLinksTest, PinnedLinkThatWasReplacedInTheMeantimeIsRefused) {
  Link("ws/.git", Path("out/dir"));
  Read("/");
  Write("ws");
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  std::filesystem::remove(Path("ws/.git"));
  std::filesystem::create_directory(Path("ws/.git"));
  EXPECT_EQ(PlanText(), "read $D/ws/.git: it has been replaced in the meantime");
}

TEST_F(PlanLinksTest, RuleThroughALinkThatTheCommandCouldChangeIsRefused) {
  Link("ws/sub/link", "../../out");
  Read("/");
  Write("ws");
  for (const auto& [access, name] :
       {std::pair(Access::kRead, "read"), std::pair(Access::kDeny, "deny"), std::pair(Access::kWrite, "write")}) {
    resolution_.rules.resize(2);
    Add("ws/sub/link/dir/file", access);
    EXPECT_EQ(PlanText(), std::string(name) +
                              " $D/ws/sub/link/dir/file: crosses the link $D/ws/sub/link, which the command could "
                              "change");
  }
}

// The protected names of a place that may not be written need no protection. The directory that has taken the place of
// the link would have none.
TEST_F(PlanLinksTest, APathThatLedElsewhereWhenTheProtectedPathsWereFoundIsRefused) {
  Link("place", "out/dir");
  Read("/");
  Write("place");
  Deny("out/dir");
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_THAT(PlanText(), HasSubstr("empty directory $D/out/dir"));
  std::filesystem::remove(Path("place"));
  std::filesystem::create_directory(Path("place"));
  EXPECT_EQ(PlanText(), "write $D/place: it has been replaced in the meantime");
}

// A command could make a link where a writable root is missing. The next command could then write the target of the
// link.
TEST_F(PlanLinksTest, WritableRootThatIsADanglingLinkInAWritablePlaceIsRefused) {
  Link("ws/cache", "/nowhere/at/all");
  Read("/");
  Write("ws");
  Write("ws/cache");
  EXPECT_THAT(PlanText(), HasSubstr("write $D/ws/cache: crosses the link $D/ws/cache"));
}

TEST_F(PlanLinksTest, SecondLinkOfAChainCountsToo) {
  Link("first", "ws/second");
  Link("ws/second", Path("out/dir"));
  Read("/");
  Write("ws");
  Deny("first/file");
  EXPECT_EQ(PlanText(), "deny $D/first/file: crosses the link $D/ws/second, which the command could change");
}

TEST_F(PlanLinksTest, LinkInAReadOnlyPlaceIsFollowed) {
  Link("project", "ws");
  std::filesystem::create_directories(Path("ws/.git"));
  Read("/");
  Write("project");
  Read("project/.git");
  Read("project/.codex");
  EXPECT_EQ(PlanText(), R"(read-only /
private /dev
fresh read-only /proc
writable $D/ws
empty directory $D/ws/.codex 0555 (placeholder)
read-only $D/ws/.git
seal $D/ws/.codex
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/ws
working directory $D
)");
}

TEST_F(PlanLinksTest, LinkInAReadOnlyDirectoryOfAWritableRootIsFollowed) {
  Link("ws/locked/link", Path("out/dir"));
  Read("/");
  Write("ws");
  Read("ws/locked");
  Deny("ws/locked/link/file");
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\nread-only $D/ws/locked\nempty file $D/out/dir/file 0000\n"));
}

TEST_F(PlanLinksTest, DeniedLinkDeniesWhatItLeadsTo) {
  Link("link", "out/../out/dir");
  Read("/");
  Deny("link");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nempty directory $D/out/dir 0000\n"));
}

TEST_F(PlanLinksTest, OfTwoNamesForOnePlaceTheDenialCounts) {
  Link("link", "out/dir");
  Read("/");
  Write("out/dir");
  Deny("link");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nempty directory $D/out/dir 0000\nseal"));
  std::ranges::reverse(resolution_.rules);
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nempty directory $D/out/dir 0000\nseal"));
}

TEST_F(PlanLinksTest, LinksToWhatIsGrantedAreThereInAnEmptyRoot) {
  Link("way/first", "../second");
  Link("second", "out");
  Read("way/first/dir");
  EXPECT_EQ(PlanText(), R"(empty root
private /dev
fresh read-only /proc
link $D/second -> out
read-only $D/out/dir
link $D/way/first -> ../second
seal /
network none
filter restricted-network
landlock list /
landlock write /dev
landlock read /proc
landlock read $D/out/dir
working directory $D
)");
}

TEST_F(PlanLinksTest, LinksInWhatIsGrantedAreThereAnyway) {
  Link("data/link", "../out/dir");
  Read("data");
  Read("data/link/file");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nread-only $D/data\nread-only $D/out/dir/file\nseal /\n"));
}

TEST_F(PlanLinksTest, LinksToWhatIsDeniedAreNotMade) {
  Link("link", "out/dir");
  Read("out");
  Deny("link");
  EXPECT_THAT(PlanText(), Not(HasSubstr("$D/link")));
}

TEST_F(PlanLinksTest, LinkInADeniedDirectoryKeepsLeadingToWhatIsGranted) {
  Link("home/sub/link", "../../out/dir");
  Read("/");
  Deny("home");
  Write("home/sub/link");
  EXPECT_THAT(PlanText(), HasSubstr("empty directory $D/home 0111\n"
                                    "make directory $D/home/sub\n"
                                    "writable $D/out/dir\n"
                                    "link $D/home/sub/link -> ../../out/dir\n"
                                    "seal $D/home\n"));
}

TEST_F(PlanLinksTest, MatchedLinkDeniesItsTargetWhereverTheLinkIs) {
  Link("ws/x.env", "../out/dir/file");
  Read("/");
  Write("ws");
  resolution_.denied_by_pattern = {Path("ws/x.env"), Path("out/dir/file")};
  EXPECT_THAT(PlanText(), HasSubstr("writable $D/ws\nempty file $D/out/dir/file 0000\nnetwork"));
}

TEST_F(PlanLinksTest, MatchedLinksThatLeadNowhereNeedNothing) {
  Link("ws/gone.env", "nothing");
  Link("ws/loop.env", "loop.env");
  Link("ws/null.env", "/dev/null");
  Link("ws/self.env", "/proc/self/environ");
  Link("ws/init.env", "/proc/1/environ");
  Link("ws/long.env", std::string(300, 'x'));
  Link("ws/file.env", Path("out/dir/file/x"));
  Read("/");
  Write("ws");
  for (const char* name : {"gone", "loop", "null", "self", "init", "long", "file"}) {
    resolution_.denied_by_pattern.push_back(Path("ws/" + std::string(name) + ".env"));
  }
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nwritable $D/ws\nnetwork"));
}

TEST_F(PlanLinksTest, MatchedLinkToTheRootIsRefused) {
  Link("ws/x.env", "/");
  Read("/");
  resolution_.denied_by_pattern = {Path("ws/x.env")};
  EXPECT_EQ(PlanText(), "deny $D/ws/x.env: is a link to /, so that everything would be denied");
}

TEST_F(PlanLinksTest, LoopOutOfTheCommandsReachNeedsNothing) {
  Link("a", "b");
  Link("b", "a");
  Read("/");
  Deny("a/secret");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nnetwork"));
}

TEST_F(PlanLinksTest, GrantThatLeadsIntoProcAddsNothing) {
  Link("link", "/proc/self/fd/0");
  Read("/");
  Write("link");
  EXPECT_THAT(PlanText(), HasSubstr("fresh read-only /proc\nnetwork"));
}

}  // namespace
}  // namespace holdfast::sandbox
