#include "doctor/kernel_findings.h"

#include <linux/landlock.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/namespaces.h"
#include "sandbox/confine/landlock.h"

namespace holdfast::doctor {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// Calls unshare in a child that does nothing else, and returns 0 or the errno.
int UnshareInChild(int flags) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(flags) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(NamespacesTest, SayWhatAPlainUnshareSays) {
  const NamespaceErrors errors = TryNamespaces(5s);
  EXPECT_EQ(errors[static_cast<size_t>(NamespaceTrial::kUser)], UnshareInChild(CLONE_NEWUSER));
  EXPECT_EQ(errors[static_cast<size_t>(NamespaceTrial::kPid)], UnshareInChild(CLONE_NEWUSER | CLONE_NEWPID));
}

TEST(NamespacesTest, LeaveNoChild) {
  (void)TryNamespaces(5s);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(NamespacesTest, WithoutTimeNothingIsKnown) {
  EXPECT_EQ(TryNamespaces(0ms).back(), ETIMEDOUT);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(NamespacesReportTest, ARefusalIsNotTheSameAsAnOldKernel) {
  NamespaceErrors errors = {};
  errors[static_cast<size_t>(NamespaceTrial::kUser)] = EPERM;
  errors[static_cast<size_t>(NamespaceTrial::kNetwork)] = EINVAL;
  const NamespacesReport report = DescribeNamespaces(errors);
  EXPECT_EQ(report.user.state, State::kRefused);
  EXPECT_EQ(report.user.detail, "Operation not permitted");
  EXPECT_EQ(report.network.state, State::kMissing);
  EXPECT_EQ(report.mount.state, State::kOk);
}

TEST(LandlockReportTest, GrowsWithTheAbi) {
  EXPECT_EQ(DescribeLandlock(0).finding.state, State::kMissing);
  EXPECT_THAT(DescribeLandlock(1).covers, ElementsAre("files"));
  EXPECT_THAT(DescribeLandlock(3).covers, ElementsAre("files", "moves", "truncate"));
  EXPECT_THAT(DescribeLandlock(5).covers, Not(Contains("signals")));
  EXPECT_THAT(DescribeLandlock(6).covers, Contains("signals"));
}

TEST(SeccompReportTest, FiltersAreThereOnAnyKernelWeRunOn) {
  const SeccompReport report = DescribeSeccomp({});
  EXPECT_EQ(report.filter.state, State::kOk);
  EXPECT_EQ(report.user_notify.state, State::kOk);
}

}  // namespace
}  // namespace holdfast::doctor
