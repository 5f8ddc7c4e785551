#include "escalate/seccomp/stub_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/eventually.h"

namespace holdfast::escalate {
namespace {

TEST(StubProgramTest, IsIntactUntilItsPermissionsAreChanged) {
  const auto stub = StubProgram::Create();
  ASSERT_TRUE(stub);
  EXPECT_TRUE(stub->IsIntact());
  ASSERT_EQ(::fchmod(stub->fd(), 0555), 0);
  EXPECT_FALSE(stub->IsIntact());
}

TEST(StubProgramTest, IsNotIntactAfterAChangeThatWasTakenBack) {
  const auto stub = StubProgram::Create();
  ASSERT_TRUE(stub);
  // The clock of the file system goes on in steps of a few milliseconds.
  const auto change = [&] { return ::fchmod(stub->fd(), 0555) == 0 && ::fchmod(stub->fd(), 0111) == 0; };
  EXPECT_TRUE(support::Eventually([&] { return change() && !stub->IsIntact(); }));
}

TEST(StubProgramTest, IsNotExecutedByAnotherProgram) {
  const auto stub = StubProgram::Create();
  ASSERT_TRUE(stub);
  EXPECT_FALSE(stub->IsExecutedBy(::getpid(), Inspection::kPossible));
  EXPECT_FALSE(stub->IsExecutedBy(::getpid(), Inspection::kRefused));
}

}  // namespace
}  // namespace holdfast::escalate
