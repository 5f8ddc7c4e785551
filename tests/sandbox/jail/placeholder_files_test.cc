#include "sandbox/jail/placeholder_files.h"

#include <sys/stat.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

class PlaceholderFilesTest : public testing::Test {
 protected:
  void MakeAndRemove(PlaceholderRetries retries) const {
    UsedPlaceholders all;
    const auto made = AcquirePlaceholder(wanted_, 0, all, retries);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(all.size(), 1u) << "taken for a directory of the user";
    (void)RemoveUnused(all);
  }

  // Makes and removes the placeholder often, while another sandbox does the same.
  void MakeAndRemoveInTwoSandboxes(PlaceholderRetries retries) const {
    std::atomic<bool> is_over = false;
    std::thread other([&] {
      while (!is_over) MakeAndRemove(retries);
    });
    for (int i = 0; i < 2000; ++i) MakeAndRemove(retries);
    is_over = true;
    other.join();
  }

  const support::ScratchDir scratch_;
  const Placeholder wanted_{.path = scratch_.path() + "/.git", .kind = PlaceholderKind::kDirectory};
};

// Another sandbox makes and removes the same placeholder all the time. On a busy machine it may hold the lock for so
// long that no wait is left when it has removed the placeholder.
TEST_F(PlaceholderFilesTest, AreMadeAlsoWhenNoTimeIsLeftToWait) {
  PlaceholderRetries retries;
  while (retries.Wait()) {
  }
  MakeAndRemoveInTwoSandboxes(retries);
}

// A directory that is made here gets the bit too. A sandbox that takes it for the user's does not mark it, and its
// command could make the name when the other sandbox has removed it.
TEST_F(PlaceholderFilesTest, AreNeverTakenForTheUsersInASetGroupIdDirectory) {
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 02775), 0);
  MakeAndRemoveInTwoSandboxes({});
}

}  // namespace
}  // namespace holdfast::sandbox
