#include "exec_policy/evaluation.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

TEST(DecisionTest, IsNamedByTheWordOfTheRules) {
  EXPECT_EQ(WordOf(Decision::kAllow), "allow");
  EXPECT_EQ(WordOf(Decision::kPrompt), "prompt");
  EXPECT_EQ(WordOf(Decision::kForbidden), "forbidden");
}

TEST(DecisionTest, IsOrderedByStrictness) {
  EXPECT_EQ(std::max({Decision::kPrompt, Decision::kForbidden, Decision::kAllow}), Decision::kForbidden);
  EXPECT_EQ(std::max(Decision::kAllow, Decision::kPrompt), Decision::kPrompt);
}

}  // namespace
}  // namespace holdfast::exec_policy
