#include "exec_policy/store/rule_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

using ::testing::ElementsAre;

TEST(RuleLayersTest, TheSystemComesBeforeTheUser) {
  const RuleLayers layers = FindRuleLayers({.home = "/home/me"});
  EXPECT_THAT(layers.directories, ElementsAre("/etc/codex/rules", "/etc/holdfast/rules", "/home/me/.codex/rules",
                                              "/home/me/.config/holdfast/rules"));
  EXPECT_EQ(layers.approved_rules, "/home/me/.codex/rules/default.rules");
}

TEST(RuleLayersTest, VariablesMoveTheLayersOfTheUser) {
  const RuleLayers layers = FindRuleLayers({.home = "/home/me", .codex_home = "/c", .xdg_config_home = "/x"});
  EXPECT_THAT(layers.directories,
              ElementsAre("/etc/codex/rules", "/etc/holdfast/rules", "/c/rules", "/x/holdfast/rules"));
  EXPECT_EQ(layers.approved_rules, "/c/rules/default.rules");
}

TEST(RuleLayersTest, AVariableThatIsNoAbsolutePathIsTakenForAbsent) {
  EXPECT_EQ(FindRuleLayers({.home = "/home/me", .codex_home = "", .xdg_config_home = "x"}),
            FindRuleLayers({.home = "/home/me"}));
}

TEST(RuleLayersTest, AUserWithoutAHomeHasOnlyTheLayersOfTheSystem) {
  const RuleLayers layers = FindRuleLayers({});
  EXPECT_THAT(layers.directories, ElementsAre("/etc/codex/rules", "/etc/holdfast/rules"));
  EXPECT_EQ(layers.approved_rules, std::nullopt);
}

}  // namespace
}  // namespace holdfast::exec_policy
