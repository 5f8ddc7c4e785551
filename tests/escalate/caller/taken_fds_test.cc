#include "escalate/caller/taken_fds.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

#include "sys/foreign_fd.h"
#include "sys/io.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {
namespace {

// Returns the errno with which this process, which holds so many descriptors of others already, cannot take its own.
int ErrnoWhenHolding(int held) {
  const rlimit few = {.rlim_cur = 200, .rlim_max = 200};
  const auto self = sys::OpenPidfd(::getpid());
  if (!self || ::setrlimit(RLIMIT_NOFILE, &few) < 0) return -1;
  std::vector<sys::ForeignFd> others;
  for (int i = 0; i < held; ++i) others.emplace_back(*sys::OpenDevNull());
  const auto taken = TakeDescriptors(::getpid(), self->get(), -1, {});
  return taken ? 0 : taken.error();
}

TEST(TakenFdsDeathTest, LeavesDescriptorsForEverythingElse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(ErrnoWhenHolding(10)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(::_exit(ErrnoWhenHolding(100)), testing::ExitedWithCode(EAGAIN), "");
}

}  // namespace
}  // namespace holdfast::escalate
