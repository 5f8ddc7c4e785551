#include "sandbox/jail/placeholder_files.h"

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
    (void)RemoveUnused(all);
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
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) MakeAndRemove(retries);
  });
  for (int i = 0; i < 2000; ++i) MakeAndRemove(retries);
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace holdfast::sandbox
