// Tests from whole policies to plans. Each of them is about one promise of the published description of the sandbox, as
// far as a plan can keep it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/text_of_plan.h"
#include "sandbox/policy/policy.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/resolve/resolve.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

class PolicyPlansTest : public testing::Test {
 protected:
  PolicyPlansTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    std::filesystem::create_directories(Path("repo"));
  }

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }

  static Entry On(Place place, Access access) { return {.where = std::move(place), .access = access}; }
  static Entry On(std::string path, Access access) {
    return {.where = AbsolutePath{std::move(path)}, .access = access};
  }
  static Entry Root(Access access) { return On(Place{.kind = PlaceKind::kRoot}, access); }
  static Entry Project(Access access) { return On(Place{.kind = PlaceKind::kProjectRoots}, access); }

  // Returns the plan as text. The project is $D/repo.
  std::string PlanText(std::vector<Entry> entries, PlanOptions options = {}) {
    policy_.files = Policy::Files{.entries = std::move(entries), .glob_scan_max_depth = glob_scan_max_depth_};
    options.command_cwd = Path("repo");
    const auto resolution = Resolve(policy_, {.policy_cwd = Path("repo"), .project_roots = {}, .tmpdir = {}});
    if (!resolution) return resolution.error().message;
    return TextOf(MakePlan(*resolution, options), directory_);
  }

  support::ScratchDir scratch_;
  std::string directory_;
  Policy policy_;
  std::optional<size_t> glob_scan_max_depth_;
};

TEST_F(PolicyPlansTest, FileSystemIsReadOnlyByDefault) {
  EXPECT_THAT(PlanText({Root(Access::kRead)}),
              HasSubstr("read-only /\nprivate /dev\nfresh read-only /proc\nnetwork none\n"));
}

TEST_F(PolicyPlansTest, WritableRootsAreLayeredAndProtectedPathsInThemReadOnlyAgain) {
  std::filesystem::create_directories(Path("repo/.codex"));
  std::filesystem::create_directories(Path("store/gd/hooks"));
  scratch_.Write("store/gd/HEAD", "ref: refs/heads/main\n");
  scratch_.Write("repo/.git", "gitdir: " + Path("store/gd") + "\n");
  EXPECT_EQ(PlanText({Root(Access::kRead), Project(Access::kWrite), On(Path("store"), Access::kWrite)}),
            R"(read-only /
private /dev
fresh read-only /proc
writable $D/repo
writable $D/store
empty directory $D/repo/.agents 0555 (placeholder)
empty directory $D/repo/.aws 0555 (placeholder)
read-only $D/repo/.codex
read-only $D/repo/.git
empty directory $D/store/.agents 0555 (placeholder)
empty directory $D/store/.aws 0555 (placeholder)
empty directory $D/store/.codex 0555 (placeholder)
empty directory $D/store/.git 0555 (placeholder)
read-only $D/store/gd
seal $D/store/.git
seal $D/store/.codex
seal $D/store/.aws
seal $D/store/.agents
seal $D/repo/.aws
seal $D/repo/.agents
network none
filter restricted-network
landlock read /
landlock write /dev
landlock write $D/repo
landlock write $D/store
working directory $D/repo
)");
}

// /repo = write, /repo/a = none, /repo/a/b = write.
TEST_F(PolicyPlansTest, NarrowerEntriesReopenAndNarrowerDenialsWin) {
  std::filesystem::create_directories(Path("repo/a/b/c"));
  std::vector<Entry> entries = {Root(Access::kRead), On(Path("repo"), Access::kWrite),
                                On(Path("repo/a"), Access::kDeny), On(Path("repo/a/b"), Access::kWrite)};
  EXPECT_THAT(PlanText(entries), HasSubstr("\nempty directory $D/repo/a 0111\nwritable $D/repo/a/b\n"));
  entries.push_back(On(Path("repo/a/b/c"), Access::kDeny));
  EXPECT_THAT(PlanText(entries), HasSubstr("\nempty directory $D/repo/a/b/c 0000\nseal"));
}

// glob_scan_max_depth = 2, "**/*.env" = "none".
TEST_F(PolicyPlansTest, FilesThatMatchAPatternAreMaskedDownToTheDepth) {
  for (const char* name : {"repo/.env", "repo/one/x.env", "repo/one/two/y.env"}) scratch_.Write(name, "secret");
  glob_scan_max_depth_ = 2;
  const std::string text =
      PlanText({Root(Access::kRead), Project(Access::kWrite), {.where = Pattern{"**/*.env"}, .access = Access::kDeny}});
  EXPECT_THAT(text, HasSubstr("\nempty file $D/repo/.env 0000\n"));
  EXPECT_THAT(text, HasSubstr("\nempty file $D/repo/one/x.env 0000\n"));
  EXPECT_THAT(text, HasSubstr("\npinned $D/repo/one\n"));
  EXPECT_THAT(text, Not(HasSubstr("y.env")));
}

TEST_F(PolicyPlansTest, MissingPathsAreBlockedAndLinksOnTheWayRefused) {
  std::vector<Entry> entries = {Root(Access::kRead), Project(Access::kWrite), On(Path("repo/x/y"), Access::kDeny)};
  EXPECT_THAT(PlanText(entries), HasSubstr("\nempty file $D/repo/x 0000 (placeholder)\n"));
  std::filesystem::create_directory_symlink(directory_, Path("repo/x"));
  EXPECT_EQ(PlanText(entries), "deny $D/repo/x/y: crosses the link $D/repo/x, which the command could change");
}

TEST_F(PolicyPlansTest, NetworkIsIsolatedUnlessItIsEnabled) {
  EXPECT_THAT(PlanText({Root(Access::kRead)}), HasSubstr("\nnetwork none\nfilter restricted-network\n"));
  policy_.network = Network::kEnabled;
  EXPECT_THAT(PlanText({Root(Access::kRead)}), HasSubstr("\nnetwork as it is\nfilter open-network\n"));
}

TEST_F(PolicyPlansTest, ManagedProxyHasANetworkOfItsOwnAndNoUnixSockets) {
  EXPECT_THAT(PlanText({Root(Access::kRead)}, {.command_cwd = {}, .proxy_network = ProxyNetwork::kListening}),
              HasSubstr("\nnetwork none\nfilter proxy-only\n"));
}

TEST_F(PolicyPlansTest, FreshProcCanBeLeftOut) {
  EXPECT_THAT(PlanText({Root(Access::kRead)}, {.command_cwd = {}, .fresh_proc = false}), Not(HasSubstr("fresh ")));
}

}  // namespace
}  // namespace holdfast::sandbox
