#include "sandbox/plan/mount_check.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/confine/landlock.h"
#include "sandbox/jail/inner_stage_fixture.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kRefused = 1;

class MountCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Check({}, [] {}) == kNoNamespaces) GTEST_SKIP() << "namespaces are not permitted here";
    scratch_.Write("directory/file", "");
    scratch_.Write("other/file", "");
    fs::create_symlink("directory", In("link"));
  }

  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }

  // Makes `mounts` in namespaces of their own. Returns 0 when CheckMounts then finds the mounts of `plan` in their
  // places.
  int Check(const NamespacePlan& plan, const std::function<void()>& mounts) const {
    const auto checks = NoteMounts(plan, PlaceholderState::kMade);
    if (!checks) return -1;
    return StatusOf(CloneFirstProcess([&] {
      mounts();
      return CheckMounts(*checks) ? 0 : kRefused;
    }));
  }

  void Bind(const std::string& from, const std::string& to, unsigned long flags = 0) const {
    if (::mount(In(from).c_str(), In(to).c_str(), nullptr, MS_BIND, nullptr) < 0) ::_exit(kNoNamespaces);
    if (flags != 0 && ::mount(nullptr, In(to).c_str(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) < 0) ::_exit(90);
  }
  void Tmpfs(const std::string& at, unsigned long flags) const {
    if (::mount("tmpfs", In(at).c_str(), "tmpfs", flags, nullptr) < 0) ::_exit(kNoNamespaces);
  }

  NamespacePlan With(Mount mount) const {
    NamespacePlan plan;
    plan.mounts = {std::move(mount)};
    return plan;
  }

  support::ScratchDir scratch_;
};

TEST_F(MountCheckTest, TakesMountsThatAreInTheirPlaces) {
  EXPECT_EQ(Check(With(WritableBind{In("directory")}), [&] { Bind("directory", "directory"); }), 0);
  EXPECT_EQ(Check(With(PinnedBind{In("other/file")}), [&] { Bind("other/file", "other/file"); }), 0);
  EXPECT_EQ(Check(With(ReadOnlyBind{In("directory")}), [&] { Bind("directory", "directory", MS_RDONLY); }), 0);
  EXPECT_EQ(Check(With(EmptyDirectory{In("directory"), 0}), [&] { Tmpfs("directory", MS_RDONLY); }), 0);
  EXPECT_EQ(Check(With(EmptyFile{In("directory/file"), 0}), [&] { Bind("other/file", "directory/file", MS_RDONLY); }),
            0);
}

TEST_F(MountCheckTest, RefusesAMountThatIsMissing) {
  for (const Mount& mount :
       {Mount(WritableBind{In("directory")}), Mount(ReadOnlyBind{In("directory")}), Mount(PinnedBind{In("directory")}),
        Mount(EmptyDirectory{In("directory"), 0}), Mount(EmptyFile{In("directory/file"), 0})}) {
    EXPECT_EQ(Check(With(mount), [] {}), kRefused) << mount.index();
  }
}

TEST_F(MountCheckTest, RefusesAMountOfSomethingElse) {
  EXPECT_EQ(Check(With(WritableBind{In("directory")}), [&] { Bind("other", "directory"); }), kRefused);
  EXPECT_EQ(Check(With(EmptyDirectory{In("directory"), 0}), [&] { Bind("directory", "directory", MS_RDONLY); }),
            kRefused);
}

TEST_F(MountCheckTest, RefusesAMountThatCouldBeWritten) {
  EXPECT_EQ(Check(With(ReadOnlyBind{In("directory")}), [&] { Bind("directory", "directory"); }), kRefused);
  EXPECT_EQ(Check(With(EmptyDirectory{In("directory"), 0}), [&] { Tmpfs("directory", 0); }), kRefused);
}

// Two names of one file could change places between two looks, so that both looks see the same correct mount.
TEST_F(MountCheckTest, RefusesOneMountInThePlaceOfTwo) {
  fs::create_hard_link(In("directory/file"), In("twin"));
  NamespacePlan plan = With(PinnedBind{In("directory/file")});
  plan.mounts.emplace_back(PinnedBind{In("twin")});
  const auto bind_both = [&] {
    Bind("directory/file", "directory/file");
    Bind("twin", "twin");
  };
  EXPECT_EQ(Check(plan, bind_both), 0);
  plan.mounts.back() = PinnedBind{In("directory/file")};
  EXPECT_EQ(Check(plan, bind_both), kRefused);
}

TEST_F(MountCheckTest, RefusesALinkInThePlaceOfAMount) {
  EXPECT_EQ(Check(With(WritableBind{In("directory")}),
                  [&] {
                    fs::rename(In("directory"), In("moved"));
                    fs::create_symlink("moved", In("directory"));
                    Bind("moved", "moved");
                  }),
            kRefused);
}

TEST_F(MountCheckTest, RefusesToNoteAPathThroughALink) {
  for (const std::string name : {"link", "link/file"}) {
    const auto checks = NoteMounts(With(WritableBind{In(name)}), PlaceholderState::kMade);
    ASSERT_FALSE(checks);
    EXPECT_THAT(checks.error().message, HasSubstr(In(name)));
  }
}

TEST_F(MountCheckTest, LandlockGrantsNothingToWhatHasTakenThePlace) {
  if (LandlockAbi() == 0) GTEST_SKIP() << "the kernel has no Landlock, or it is not enabled";
  std::vector<LandlockRule> rules = {{In("directory"), LandlockRule::Rights::kWrite}};
  const auto checks = NoteMounts(With(WritableBind{In("directory")}), PlaceholderState::kMade);
  ASSERT_TRUE(checks);
  NoteIdentities(*checks, rules);
  const auto restrict = [&] {
    return StatusOf(CloneFirstProcess([&] { return Restrict({.rules = rules, .passed_fds = {}}) ? 0 : kRefused; }));
  };
  EXPECT_EQ(restrict(), 0);
  fs::rename(In("directory"), In("moved"));
  fs::rename(In("other"), In("directory"));
  EXPECT_EQ(restrict(), kRefused);
  fs::remove_all(In("directory"));
  fs::create_symlink("moved", In("directory"));
  EXPECT_EQ(restrict(), kRefused);
}

}  // namespace
}  // namespace holdfast::sandbox
