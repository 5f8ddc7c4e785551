#include "sys/mount_changes.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sys {
namespace {

constexpr int kNoNamespaces = 77;

// Runs `function` in a child with a mount namespace of its own. Returns its exit status.
int InMountNamespace(const std::function<int()>& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int flags = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
    if (::unshare(flags) < 0 || ::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) < 0) {
      ::_exit(kNoNamespaces);
    }
    ::_exit(function());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(MountChangesTest, CountsMountsThatAreMadeAndRemoved) {
  const support::ScratchDir dir;
  const int status = InMountNamespace([&] {
    MountChanges changes;
    const uint64_t before = changes.Count();
    if (changes.Count() != before) return 1;
    if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, nullptr) < 0) return kNoNamespaces;
    const uint64_t made = changes.Count();
    if (made == before || changes.Count() != made) return 2;
    ::umount2(dir.path().c_str(), MNT_DETACH);
    return changes.Count() != made ? 0 : 3;
  });
  if (status == kNoNamespaces) GTEST_SKIP() << "mounts are not permitted here";
  EXPECT_EQ(status, 0);
}

TEST(MountChangesTest, DoesNotCountMountsOfOtherNamespaces) {
  const support::ScratchDir dir;
  const int status = InMountNamespace([&] {
    MountChanges changes;
    const uint64_t before = changes.Count();
    const int other = InMountNamespace(
        [&] { return ::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, nullptr) < 0 ? kNoNamespaces : 0; });
    if (other != 0) return other;
    return changes.Count() == before ? 0 : 1;
  });
  if (status == kNoNamespaces) GTEST_SKIP() << "mounts are not permitted here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast::sys
