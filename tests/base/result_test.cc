#include "base/result.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(FailErrnoTest, TellsOfTheErrnoThatIsSet) {
  errno = EACCES;
  const Result<> failed = FailErrno("open", "/etc/shadow");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{ErrorKind::kPermissionDenied, "open /etc/shadow: Permission denied"}));
}

TEST(FailErrnoTest, TellsOfTheErrnoThatIsGiven) {
  errno = EACCES;
  const Result<> failed = FailErrno("open", "/gone", ENOENT);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{ErrorKind::kNotFound, "open /gone: No such file or directory"}));
}

TEST(FailErrnoTest, NeedsNoObject) {
  errno = EMFILE;
  const Result<> failed = FailErrno("pipe2");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{ErrorKind::kSystem, "pipe2: Too many open files"}));
}

}  // namespace
}  // namespace holdfast
