#include "skills/yaml.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::skills {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto parsed = Yaml::Parse(text);
  return parsed ? "none" : parsed.error().message;
}

TEST(YamlTest, HasMappingsSequencesAndTexts) {
  const auto yaml = Yaml::Parse("a: 1\nb:\n  - x\n  - {c: 'true'}\nd: ~\n");
  ASSERT_TRUE(yaml) << yaml.error().message;
  EXPECT_EQ(*yaml->Find("a")->text(), "1");
  ASSERT_EQ(yaml->Find("b")->items().size(), 2U);
  EXPECT_EQ(*yaml->Find("b")->items()[1].Find("c")->text(), "true");
  EXPECT_TRUE(yaml->Find("d")->is_null());
  EXPECT_EQ(yaml->Find("e"), nullptr);
}

TEST(YamlTest, TakesOnlyWordsWithoutQuotesForBooleans) {
  const auto yaml = Yaml::Parse("[true, False, \"true\", yes]");
  ASSERT_TRUE(yaml);
  EXPECT_EQ(yaml->items()[0].boolean(), true);
  EXPECT_EQ(yaml->items()[1].boolean(), false);
  EXPECT_EQ(yaml->items()[2].boolean(), std::nullopt);
  EXPECT_EQ(yaml->items()[3].boolean(), std::nullopt);
}

TEST(YamlTest, IsNullIfThereIsNothing) {
  EXPECT_TRUE(Yaml::Parse("")->is_null());
  EXPECT_TRUE(Yaml::Parse("# a comment\n")->is_null());
}

TEST(YamlTest, RefusesAliases) { EXPECT_EQ(ErrorOf("a: &x 1\nb: *x\n"), "yaml: aliases are not supported"); }

TEST(YamlTest, RefusesAKeyThatStandsTwice) { EXPECT_EQ(ErrorOf("a: 1\na: 2\n"), "yaml: the key a stands twice"); }

TEST(YamlTest, RefusesASecondDocument) { EXPECT_EQ(ErrorOf("a: 1\n---\nb: 2\n"), "yaml: more than one document"); }

TEST(YamlTest, RefusesKeysThatAreNotTexts) { EXPECT_EQ(ErrorOf("? [a]\n: b\n"), "yaml: a key is not a text"); }

TEST(YamlTest, NamesTheLineOfAMistake) { EXPECT_EQ(ErrorOf("a: 1\nb: [\n").substr(0, 12), "yaml: line 3"); }

TEST(YamlTest, RefusesADepthThatNobodyNeeds) {
  EXPECT_EQ(ErrorOf(std::string(1 << 20, '[')), "yaml: more than 16 levels");
  EXPECT_EQ(ErrorOf(std::string(16, '[') + std::string(16, ']')), "none");
}

TEST(YamlTest, RefusesAMappingOfVeryManyKeys) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "k" + std::to_string(i) + ": v\n";
  EXPECT_EQ(ErrorOf(text), "yaml: more than 1000 keys");
}

}  // namespace
}  // namespace holdfast::skills
