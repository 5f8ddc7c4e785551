#include "exec_server/environment/environment_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

TEST(ProviderIdTest, TellsBuildsApart) {
  const auto id = ProviderId("1.0", "00ff");
  ASSERT_TRUE(id);
  EXPECT_THAT(*id, testing::MatchesRegex("sha256:[0-9a-f]{64}"));
  EXPECT_EQ(ProviderId("1.0", "00ff"), id);
  EXPECT_NE(ProviderId("1.0", "00fe"), id);
  EXPECT_NE(ProviderId("1.1", "00ff"), id);
}

TEST(ProviderIdTest, DoesNotNameABuildThatHasNoId) { EXPECT_EQ(ProviderId("1.0", ""), std::nullopt); }

}  // namespace
}  // namespace holdfast::exec_server
