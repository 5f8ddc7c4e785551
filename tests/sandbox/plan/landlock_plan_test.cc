#include "sandbox/plan/landlock_plan.h"
#include "sandbox/resolve/resolve.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/resolve/protected_names.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Rights = LandlockRule::Rights;

const Entry kReadAll = {.where = Place{PlaceKind::kRoot}, .access = Access::kRead};

class LandlockPlanTest : public testing::Test {
 protected:
  LandlockPlanTest() { ::mkdir(In("sub").c_str(), 0755); }

  std::string In(const std::string& name) const { return dir_.path() + "/" + name; }

  Result<LandlockPlan> Make(std::vector<Entry> entries, Network network = Network::kRestricted) const {
    return Make({.files = Policy::Files{.entries = std::move(entries), .glob_scan_max_depth = {}}, .network = network});
  }
  Result<LandlockPlan> Make(const Policy& policy) const {
    auto resolution = Resolve(policy, {.policy_cwd = dir_.path(), .project_roots = {}, .tmpdir = {}});
    if (!resolution) return std::unexpected(resolution.error());
    return MakeLandlockPlan(*resolution, {.command_cwd = dir_.path()});
  }

  std::string Refusal(std::vector<Entry> entries) const {
    const auto plan = Make(std::move(entries));
    if (plan) return "none";
    EXPECT_EQ(plan.error().kind, ErrorKind::kInvalidRequest);
    return plan.error().message;
  }

  static Entry At(std::string path, Access access) {
    return {.where = AbsolutePath{std::move(path)}, .access = access};
  }

  // Returns entries for a writable directory in which the protected names are writable too.
  std::vector<Entry> Opened(const std::string& path) const {
    std::vector<Entry> entries = {kReadAll, At(path, Access::kWrite)};
    for (const std::string& name : kProtectedNames) entries.push_back(At(path + "/" + name, Access::kWrite));
    return entries;
  }

  // Returns the paths that may be written, without the devices.
  static std::vector<std::string> Writable(const LandlockPlan& plan) {
    std::vector<std::string> paths;
    for (const LandlockRule& rule : plan.landlock) {
      if (rule.rights == Rights::kWrite && !rule.path.starts_with("/dev/")) paths.push_back(rule.path);
    }
    return paths;
  }

  support::ScratchDir dir_;
};

TEST_F(LandlockPlanTest, LinkThatMustStayDoesNotFit) {
  ASSERT_EQ(::symlink("sub", In(".codex").c_str()), 0);
  std::vector<Entry> entries = {kReadAll, At(dir_.path(), Access::kWrite), At(In("sub"), Access::kWrite)};
  for (const std::string& name : kProtectedNames) {
    if (name != ".codex") entries.push_back(At(In(name), Access::kWrite));
    entries.push_back(At(In("sub/" + name), Access::kWrite));
  }
  EXPECT_EQ(Refusal(entries), "landlock cannot keep the link " + In(".codex"));
}

TEST_F(LandlockPlanTest, ReadOnlyFits) {
  const auto plan = Make({kReadAll});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(Writable(*plan), IsEmpty());
  EXPECT_EQ(plan->filter, Filter::kRestrictedNetwork);
  EXPECT_EQ(plan->working_directory, dir_.path());
  const std::string text = Text(*plan);
  EXPECT_THAT(text, StartsWith("no namespaces, no mounts\nnetwork refused by the filter\n"));
  EXPECT_THAT(text, HasSubstr("file attributes refused by the filter\nlandlock list /\n"));
  EXPECT_THAT(text, HasSubstr("landlock read /usr\n"));
}

// Without mounts there is no private /dev, and the one of the host has disks and the terminals of other users in it.
TEST_F(LandlockPlanTest, OfTheHostsDevicesOnlyAFewAreOpen) {
  const auto plan = Make({kReadAll});
  ASSERT_TRUE(plan) << plan.error().message;
  for (const LandlockRule& rule : plan->landlock) {
    EXPECT_NE(rule.path, "/dev");
    if (rule.path == "/") EXPECT_EQ(rule.rights, Rights::kList);
  }
  EXPECT_THAT(Text(*plan), HasSubstr("landlock write /dev/null\n"));
}

TEST_F(LandlockPlanTest, AWritableFileFits) {
  const std::string file = dir_.Write("file", "");
  const auto plan = Make({kReadAll, At(file, Access::kWrite)});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(Writable(*plan), ElementsAre(file));
}

TEST_F(LandlockPlanTest, AWritableDirectoryDoesNotFitBecauseOfItsProtectedNames) {
  EXPECT_EQ(Refusal({kReadAll, At(In("sub"), Access::kWrite)}),
            "landlock cannot keep " + In("sub/.agents") + " read-only inside of what may be written");
  EXPECT_THAT(Refusal({kReadAll, {.where = Place{PlaceKind::kProjectRoots}, .access = Access::kWrite}}),
              HasSubstr("/.agents read-only"));
}

TEST_F(LandlockPlanTest, AWritableDirectoryFitsWithItsProtectedNamesOpened) {
  const auto plan = Make(Opened(In("sub")));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(Writable(*plan), ElementsAre(In("sub")));
}

TEST_F(LandlockPlanTest, CarveOutsDoNotFit) {
  const auto with = [&](Entry entry) {
    std::vector<Entry> entries = Opened(In("sub"));
    entries.push_back(std::move(entry));
    return Refusal(std::move(entries));
  };
  EXPECT_THAT(with(At(In("sub/docs"), Access::kRead)), HasSubstr("keep " + In("sub/docs") + " read-only"));
  EXPECT_THAT(with(At(In("sub/key"), Access::kDeny)), HasSubstr("deny " + In("sub/key")));
  EXPECT_EQ(with(At(In("other"), Access::kRead)), "none") << "it is read-only anyway";
}

TEST_F(LandlockPlanTest, WhatMayNotBeReadDoesNotFit) {
  EXPECT_THAT(Refusal({kReadAll, At(In("key"), Access::kDeny)}), HasSubstr("deny " + In("key")));
  EXPECT_EQ(Refusal({At(In("sub"), Access::kRead)}), "landlock cannot hide what may not be read");
  EXPECT_EQ(Refusal({{.where = Place{PlaceKind::kMinimal}, .access = Access::kRead}}),
            "landlock cannot hide what may not be read");
  dir_.Write("a.env", "");
  EXPECT_THAT(Refusal({kReadAll, {.where = Pattern{"*.env"}, .access = Access::kDeny}}), HasSubstr("deny "));
}

TEST_F(LandlockPlanTest, ALinkIsJudgedByWhereItLeads) {
  ASSERT_EQ(::symlink(In("sub").c_str(), In("link").c_str()), 0);
  std::vector<Entry> entries = Opened(In("sub"));
  entries.push_back(At(In("link"), Access::kDeny));
  EXPECT_THAT(Refusal(std::move(entries)), HasSubstr("deny " + In("link")));
}

TEST_F(LandlockPlanTest, WithoutRestrictionsOnFilesThereAreNoRules) {
  const auto plan = Make(Policy{.files = {}, .network = Network::kRestricted});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->landlock, IsEmpty());
  EXPECT_THAT(Text(*plan), HasSubstr("files as they are\n"));
  EXPECT_THAT(Text(*plan), Not(HasSubstr("attributes")));
}

// A command can choose the name of a directory: it must not look like a line of the plan, nor move the cursor.
TEST_F(LandlockPlanTest, NamesInTheTextAreEscaped) {
  const std::string odd = "/a\nlandlock write /\x1b[2K";
  LandlockPlan plan;
  plan.landlock = {{.path = odd, .rights = Rights::kRead}};
  plan.working_directory = odd;
  EXPECT_EQ(Text(plan), R"(no namespaces, no mounts
network refused by the filter
file attributes refused by the filter
landlock read "/a\nlandlock write /\u001b[2K"
working directory "/a\nlandlock write /\u001b[2K"
)");
}

TEST_F(LandlockPlanTest, TheNetworkIsTheFiltersAffair) {
  const auto plan = Make({kReadAll}, Network::kEnabled);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->filter, Filter::kOpenNetwork);
  const auto proxied = MakeLandlockPlan({}, {.command_cwd = "/", .proxy_network = ProxyNetwork::kListening});
  ASSERT_FALSE(proxied);
  EXPECT_THAT(proxied.error().message, HasSubstr("network of its own"));
}

}  // namespace
}  // namespace holdfast::sandbox
