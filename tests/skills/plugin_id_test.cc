#include "skills/plugin.h"

#include <gtest/gtest.h>

namespace holdfast::skills {
namespace {

TEST(PluginIdTest, HasNamesWithoutSurprises) {
  EXPECT_TRUE(IsMarketplace("M_k-1") && IsPlugin("P_x-2.q") && IsVersion("1.0.0-rc.1+b") && IsVersion(".v"));
  for (const char* name : {"", "a b", "a/b", "a@b", "\xC3\xA9", ".."}) {
    EXPECT_FALSE(IsMarketplace(name) || IsPlugin(name) || IsVersion(name)) << name;
  }
  EXPECT_FALSE(IsMarketplace("m.k") || IsPlugin(".p") || IsVersion("."));
}

TEST(PluginIdTest, PrefersTheHighestVersion) {
  EXPECT_TRUE(IsPreferred("10.0.0", "2.0.0") && !IsPreferred("2.0.0", "10.0.0"));
  EXPECT_TRUE(IsPreferred("2.0.0", "2.0.0-alpha") && IsPreferred("2.0.0-alpha", "1.9.9"));
  EXPECT_TRUE(IsPreferred("1.0.0-alpha.10", "1.0.0-alpha.9") && IsPreferred("1.0.0-beta", "1.0.0-1"));
  EXPECT_FALSE(IsPreferred("1.0.0", "1.0.0"));
}

TEST(PluginIdTest, ComparesOtherVersionsAsText) {
  EXPECT_TRUE(IsPreferred("2.0", "10.0") && IsPreferred("zzz", "2.0.0") && IsPreferred("abc", "2.0.0"));
  EXPECT_TRUE(IsPreferred("1.01.0", "1.0.5"));
}

TEST(PluginIdTest, PrefersALocalPluginToAll) {
  EXPECT_TRUE(IsPreferred("local", "zzz") && !IsPreferred("zzz", "local") && !IsPreferred("local", "local"));
}

}  // namespace
}  // namespace holdfast::skills
