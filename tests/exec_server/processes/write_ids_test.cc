#include "exec_server/processes/write_ids.h"

#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

TEST(WriteIdsTest, RecognisesARepetition) {
  WriteIds ids;
  EXPECT_TRUE(ids.Remember("a"));
  EXPECT_TRUE(ids.Remember("b"));
  EXPECT_FALSE(ids.Remember("a"));
}

TEST(WriteIdsTest, ForgetsTheOldestFirst) {
  WriteIds ids;
  for (size_t i = 0; i < WriteIds::kRemembered; ++i) EXPECT_TRUE(ids.Remember(std::to_string(i)));
  EXPECT_FALSE(ids.Remember("0"));
  EXPECT_TRUE(ids.Remember("one more"));
  EXPECT_FALSE(ids.Remember("1"));
  EXPECT_TRUE(ids.Remember("0"));
}

TEST(WriteIdsTest, TakesAForgottenIdAgain) {
  WriteIds ids;
  ids.Remember("a");
  ids.Remember("b");
  ids.Forget("a");
  EXPECT_TRUE(ids.Remember("a"));
  EXPECT_FALSE(ids.Remember("b"));
}

}  // namespace
}  // namespace holdfast::exec_server
