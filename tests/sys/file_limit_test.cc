#include "sys/file_limit.h"

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
