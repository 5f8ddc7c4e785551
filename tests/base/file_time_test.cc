#include "base/file_time.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

TEST(FileTimeTest, CountsTheRestForwardAlsoBefore1970) {
  EXPECT_EQ(FileTime(1'234).tv_sec, 1);
  EXPECT_EQ(FileTime(1'234).tv_nsec, 234'000'000);
  EXPECT_EQ(FileTime(-1).tv_sec, -1);
  EXPECT_EQ(FileTime(-1).tv_nsec, 999'000'000);
  EXPECT_EQ(FileTime(-1'000).tv_sec, -1);
  EXPECT_EQ(FileTime(-1'000).tv_nsec, 0);
}

TEST(FileTimeTest, ComesBackUnchanged) {
  for (const int64_t ms : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-1'001}, int64_t{1'700'000'000'123}}) {
    EXPECT_EQ(FileTimeMs(FileTime(ms)), ms);
  }
}

TEST(FileTimeTest, TakesTheFarthestTimeForOneThatIsTooFarAway) {
  EXPECT_EQ(FileTimeMs({.tv_sec = kMost, .tv_nsec = 0}), kMost);
  EXPECT_EQ(FileTimeMs({.tv_sec = kLeast, .tv_nsec = 0}), kLeast);
  EXPECT_EQ(FileTime(kLeast).tv_nsec, 192'000'000);
}

}  // namespace
}  // namespace holdfast
