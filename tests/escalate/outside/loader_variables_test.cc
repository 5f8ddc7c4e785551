#include "escalate/outside/loader_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

using ::testing::ElementsAre;

using Environment = std::vector<std::string>;

TEST(LoaderVariablesTest, AreFoundByTheirNames) {
  EXPECT_TRUE(HasLoaderVariables(Environment{"HOME=/", "LD_PRELOAD=./evil.so"}));
  EXPECT_TRUE(HasLoaderVariables(Environment{"LD_FUTURE=1"}));
  EXPECT_TRUE(HasLoaderVariables(Environment{"GCONV_PATH=."}));
  EXPECT_TRUE(HasLoaderVariables(Environment{"GLIBC_TUNABLES"}));
  EXPECT_FALSE(HasLoaderVariables(Environment{"TMPDIR=/tmp", "MY_LD_PRELOAD=x", "GCONV_PATHS=x", "A=LD_PRELOAD=x"}));
}

TEST(LoaderVariablesTest, AreDroppedAndTheOthersStayInTheirOrder) {
  Environment environment = {"B=1", "LD_AUDIT=x", "A=2", "LD_AUDIT=y", "LOCPATH=z", "malformed"};
  DropLoaderVariables(environment);
  EXPECT_THAT(environment, ElementsAre("B=1", "A=2", "malformed"));
}

}  // namespace
}  // namespace holdfast::escalate
