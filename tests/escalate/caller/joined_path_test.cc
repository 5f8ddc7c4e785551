#include "escalate/caller/program.h"

#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

TEST(JoinedPathTest, LeavesOutThePartsThatLeadNowhere) {
  EXPECT_EQ(JoinedPath("/work", "run"), "/work/run");
  EXPECT_EQ(JoinedPath("/", "run"), "/run");
  EXPECT_EQ(JoinedPath("/work", "./run"), "/work/run");
  EXPECT_EQ(JoinedPath("/work", ".//././/run"), "/work/run");
  EXPECT_EQ(JoinedPath("/work", "./"), "/work");
  EXPECT_EQ(JoinedPath("/work", "bin/.//run"), "/work/bin/run");
  EXPECT_EQ(JoinedPath("/work/./", "run"), "/work/run");
  EXPECT_EQ(JoinedPath("/work", "//usr/./bin/run"), "/usr/bin/run");
}

TEST(JoinedPathTest, KeepsThePartsThatMayFollowALink) {
  EXPECT_EQ(JoinedPath("/work", "../run"), "/work/../run");
  EXPECT_EQ(JoinedPath("/work", "link/../run"), "/work/link/../run");
  EXPECT_EQ(JoinedPath("/work", ".hidden"), "/work/.hidden");
}

}  // namespace
}  // namespace holdfast::escalate
