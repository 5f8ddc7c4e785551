#include "base/environment_variable.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(EnvironmentVariableTest, TellsAnEmptyValueFromNone) {
  ASSERT_EQ(::setenv("HOLDFAST_TEST_VARIABLE", "", 1), 0);
  EXPECT_EQ(EnvironmentVariable("HOLDFAST_TEST_VARIABLE"), "");
  ASSERT_EQ(::unsetenv("HOLDFAST_TEST_VARIABLE"), 0);
  EXPECT_EQ(EnvironmentVariable("HOLDFAST_TEST_VARIABLE"), std::nullopt);
}

}  // namespace
}  // namespace holdfast
