#include "sys/file_limit.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

class FileLimitTest : public ::testing::Test {
 protected:
  FileLimitTest() { EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0); }
  ~FileLimitTest() override { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

  static rlim_t SoftLimit() {
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
  }

  rlimit before_{};
};

TEST_F(FileLimitTest, RaisesTheSoftLimitNearlyToTheHardOneAndSaysWhatItWas) {
  if (before_.rlim_max <= 100) GTEST_SKIP() << "the hard limit leaves nothing to raise";
  const rlimit low{.rlim_cur = 100, .rlim_max = before_.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto was = RaiseFileLimit();
  ASSERT_TRUE(was) << was.error().message;
  EXPECT_EQ(was->rlim_cur, 100u);
  EXPECT_EQ(was->rlim_max, before_.rlim_max);
  EXPECT_EQ(SoftLimit(), UsualFileLimit(before_.rlim_max));
}

TEST_F(FileLimitTest, KeepsAReserveOfMoreDescriptorsThanOneMessageHas) {
  EXPECT_EQ(UsualFileLimit(1 << 20), (1u << 20) - 512);
  EXPECT_EQ(UsualFileLimit(1024), 768u);
}

TEST_F(FileLimitTest, AllowsCommandsClearlyFewerDescriptorsThanTheServer) {
  const rlimit of_many = FileLimitOfCommands({.rlim_cur = 1024, .rlim_max = 20'000});
  EXPECT_EQ(of_many.rlim_cur, 1024u);
  EXPECT_EQ(of_many.rlim_max, UsualFileLimit(20'000) - 1024);
  const rlimit of_few = FileLimitOfCommands({.rlim_cur = 1024, .rlim_max = 1024});
  EXPECT_EQ(of_few.rlim_cur, 384u);
  EXPECT_EQ(of_few.rlim_max, UsualFileLimit(1024) / 2);
}

TEST_F(FileLimitTest, LowersTheLimitOfAHelperToThatOfCommands) {
  for (const rlim_t hard : {before_.rlim_max, before_.rlim_max / 2, rlim_t{300}}) {
    const rlimit own = {.rlim_cur = hard, .rlim_max = before_.rlim_max};
    const rlimit of_helpers = FileLimitOfHelpers(own), of_commands = FileLimitOfCommands(own);
    EXPECT_LT(of_commands.rlim_max, of_helpers.rlim_max);
    EXPECT_LT(of_helpers.rlim_max, UsualFileLimit(own.rlim_max));
    EXPECT_LE(of_commands.rlim_cur, of_helpers.rlim_cur);
  }
  const auto lowered_from = [](const rlimit& helper) {
    ::setrlimit(RLIMIT_NOFILE, &helper);
    rlimit limit = {};
    const bool lowered = LowerFileLimit().has_value() && ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    ::_exit(lowered && limit.rlim_max == FileLimitOfCommands({.rlim_cur = 20, .rlim_max = 1024}).rlim_max ? 0 : 1);
  };
  const rlimit own = {.rlim_cur = 20, .rlim_max = 1024};
  EXPECT_EXIT(lowered_from(FileLimitOfHelpers(own)), testing::ExitedWithCode(0), "");
}

TEST_F(FileLimitTest, LetsTheReserveBeUsedForAWhile) {
  ASSERT_TRUE(RaiseFileLimit());
  {
    const FdReserve reserve;
    EXPECT_EQ(SoftLimit(), before_.rlim_max);
  }
  EXPECT_EQ(SoftLimit(), UsualFileLimit(before_.rlim_max));
}

TEST_F(FileLimitTest, LeavesALimitThatCannotBeRaised) {
  ASSERT_TRUE(RaiseFileLimit());
  const auto was = RaiseFileLimit();
  ASSERT_TRUE(was);
  EXPECT_EQ(was->rlim_cur, UsualFileLimit(before_.rlim_max));
  EXPECT_EQ(SoftLimit(), UsualFileLimit(before_.rlim_max));
}

}  // namespace
}  // namespace holdfast::sys
