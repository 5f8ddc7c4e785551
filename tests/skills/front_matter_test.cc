#include "skills/front_matter.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::skills {
namespace {

// Returns `NAME|DESCRIPTION|SHORT DESCRIPTION`, or nothing if the text is refused.
std::string Shown(std::string_view text) {
  const auto head = ReadFrontMatter(text);
  if (!head) return "";
  return head->name + "|" + head->description + "|" + head->short_description.value_or("-");
}

std::string ShownOf(const std::string& yaml) { return Shown("---\n" + yaml + "\n---\nbody\n"); }

TEST(FrontMatterTest, StandsBetweenTwoLines) {
  EXPECT_EQ(Shown("---\nname: x\ndescription: d\n---\nbody"), "x|d|-");
  EXPECT_EQ(Shown("---\nname: x\ndescription: d\n---"), "x|d|-");
  EXPECT_EQ(Shown("--- \r\nname: x\r\ndescription: d\r\n  ---\r\n"), "x|d|-");
}

TEST(FrontMatterTest, IsMissingInAnyOtherText) {
  for (const char* text : {"", "body", "\n---\nname: x\ndescription: d\n---\n", "---\nname: x\ndescription: d\n",
                           "----\nname: x\ndescription: d\n----\n", "\xEF\xBB\xBF---\nname: x\ndescription: d\n---\n",
                           "---\nname: x\ndescription: d\n--- x\n", "---\n---\n", "---"}) {
    EXPECT_EQ(Shown(text), "") << text;
  }
}

TEST(FrontMatterTest, EndsAtTheFirstClosingLine) {
  const std::string_view text = "---\ndescription: |\n  a\n  ---\n  b\n---\n";
  EXPECT_EQ(text.substr(0, FrontMatterLength(text)), "---\ndescription: |\n  a\n  ---\n");
  EXPECT_EQ(Shown(text), "|a|-");
}

TEST(FrontMatterTest, HasANameADescriptionAndAShortDescription) {
  EXPECT_EQ(ShownOf("name: x\ndescription: d\nmetadata:\n  short-description: s"), "x|d|s");
  EXPECT_EQ(ShownOf("description: d"), "|d|-");
  EXPECT_EQ(ShownOf("name: 5\ndescription: 0x10\nmetadata: {short-description: 5}"), "5|0x10|5");
  EXPECT_EQ(ShownOf("name: null\ndescription: d"), "|d|-");
}

TEST(FrontMatterTest, PutsTextsOnOneLine) {
  EXPECT_EQ(ShownOf("name: \" a  b \"\ndescription: |\n  multi\n  line"), "a b|multi line|-");
  EXPECT_EQ(ShownOf("name: x\ndescription: >\n  folded\n\n  text"), "x|folded text|-");
}

TEST(FrontMatterTest, NeedsADescription) {
  for (const char* yaml : {"name: x", "name: x\ndescription:", "name: x\ndescription: null",
                           "name: x\ndescription: [a]", "name: [x]\ndescription: d", "- a", "text",
                           "name: x\nname: y\ndescription: d", "name: x\ndescription: d\nmetadata: 3"}) {
    EXPECT_EQ(ShownOf(yaml), "") << yaml;
  }
}

TEST(FrontMatterTest, TakesValuesThatLackTheirQuotes) {
  EXPECT_EQ(ShownOf("name: x\ndescription: Use this: first # always"), "x|Use this: first|-");
  EXPECT_EQ(ShownOf("name: x: y\ndescription: it's: fine"), "x: y|it's: fine|-");
  EXPECT_EQ(ShownOf("name: x\ndescription: [unclosed"), "x|[unclosed|-");
  EXPECT_EQ(ShownOf("name: x\ndescription: @home"), "x|@home|-");
  EXPECT_EQ(ShownOf("name: x\ndescription: d\nmetadata:\n  short-description: s: t"), "x|d|s: t");
  EXPECT_EQ(ShownOf("list:\n  - q: r: s\nname: x\ndescription: d"), "x|d|-");
}

TEST(FrontMatterTest, DoesNotGuessWhereQuotesEnd) { EXPECT_EQ(ShownOf("name: \"x\ndescription: d"), ""); }

}  // namespace
}  // namespace holdfast::skills
