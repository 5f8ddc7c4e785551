#include "sys/fdinfo.h"

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "sys/pidfd.h"

namespace holdfast::sys {
namespace {

TEST(FdInfoTest, TellsTheProcessOfAPidfd) {
  const auto pidfd = OpenPidfd(::getpid());
  ASSERT_TRUE(pidfd) << pidfd.error().message;
  const auto description = ReadFdInfo(pidfd->get());
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(ValueIn(*description, "Pid"), std::to_string(::getpid()));
}

TEST(FdInfoTest, AValueIsThatOfAWholeName) {
  constexpr std::string_view lines = "pos:\t0\nNSpid:\t7\t1\nPid:\t12\n";
  EXPECT_EQ(ValueIn(lines, "Pid"), "12");
  EXPECT_EQ(ValueIn(lines, "NSpid"), "7\t1");
  EXPECT_EQ(ValueIn(lines, "pid"), "");
}

TEST(FdInfoTest, AClosedDescriptorHasNone) {
  const auto description = ReadFdInfo(-1);
  ASSERT_FALSE(description);
  EXPECT_EQ(description.error().message, "read /proc/self/fdinfo/-1: No such file or directory");
}

}  // namespace
}  // namespace holdfast::sys
