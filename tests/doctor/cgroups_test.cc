#include "doctor/cgroups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::doctor {
namespace {

using support::ScratchDir;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CgroupsTest, NoneMountedIsMissing) {
  const ScratchDir tree;
  const CgroupsReport report = FindCgroups(tree.path());
  EXPECT_EQ(report.finding.state, State::kMissing);
  EXPECT_EQ(report.version, "");
}

TEST(CgroupsTest, ListsControllersOfAWritableGroup) {
  const ScratchDir tree;
  tree.Write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  tree.Write("proc/self/cgroup", "0::/user.slice/me\n");
  tree.Write("sys/fs/cgroup/user.slice/me/cgroup.procs", "");
  tree.Write("sys/fs/cgroup/user.slice/me/cgroup.controllers", "memory cpu pids\n");
  const CgroupsReport report = FindCgroups(tree.path());
  EXPECT_EQ(report.version, "v2");
  EXPECT_THAT(report.delegated, ElementsAre("cpu", "memory", "pids"));
  EXPECT_EQ(report.finding.state, State::kOk);
}

TEST(CgroupsTest, AGroupThatMayNotBeChangedDelegatesNothing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ScratchDir tree;
  tree.Write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.Write("proc/self/cgroup", "0::/me\n");
  tree.Write("sys/fs/cgroup/me/cgroup.controllers", "memory\n");
  tree.Write("sys/fs/cgroup/me/cgroup.procs", "", 0444);
  const CgroupsReport report = FindCgroups(tree.path());
  EXPECT_EQ(report.finding.state, State::kRefused);
  EXPECT_THAT(report.delegated, IsEmpty());
}

TEST(CgroupsTest, FindsEachControllerOfVersion1InItsOwnHierarchy) {
  const ScratchDir tree;
  tree.Write("proc/self/mountinfo",
             "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  tree.Write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/mine\n1:cpu:/absent\n0::/\n");
  tree.Write("sys/fs/cgroup/memory/mine/cgroup.procs", "");
  const CgroupsReport report = FindCgroups(tree.path());
  EXPECT_EQ(report.version, "hybrid");
  EXPECT_THAT(report.delegated, ElementsAre("memory"));
}

TEST(CgroupsTest, AMountThatShowsOnlyAPartIsFollowed) {
  const ScratchDir tree;
  tree.Write("proc/self/mountinfo", "30 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.Write("proc/self/cgroup", "0::/docker/1/init\n");
  tree.Write("sys/fs/cgroup/init/cgroup.procs", "");
  tree.Write("sys/fs/cgroup/init/cgroup.controllers", "pids\n");
  EXPECT_THAT(FindCgroups(tree.path()).delegated, ElementsAre("pids"));
}

}  // namespace
}  // namespace holdfast::doctor
