#include "sys/read_link.h"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sys {
namespace {

TEST(ReadLinkTest, GivesTheTextOfALinkThatNeedNotLeadAnywhere) {
  const support::ScratchDir dir;
  const std::string link = dir.path() + "/link";
  ASSERT_EQ(::symlink("no/such place", link.c_str()), 0);
  EXPECT_EQ(ReadLink(link), "no/such place");
  const OwnedFd directory(::open(dir.path().c_str(), O_PATH | O_CLOEXEC));
  EXPECT_EQ(ReadLinkAt(directory.get(), "link", "shown"), "no/such place");
  const OwnedFd itself(::open(link.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  EXPECT_EQ(ReadLinkAt(itself.get(), "", "shown"), "no/such place");
}

TEST(ReadLinkTest, NamesThePathThatIsNoLink) {
  const support::ScratchDir dir;
  const OwnedFd directory(::open(dir.path().c_str(), O_PATH | O_CLOEXEC));
  const auto missing = ReadLinkAt(directory.get(), "missing", "/shown");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), (Error{ErrorKind::kNotFound, "readlink /shown: No such file or directory"}));
}

}  // namespace
}  // namespace holdfast::sys
