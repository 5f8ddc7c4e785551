#include "codex_config/toml_selection.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/toml_file.h"

namespace holdfast::codex_config {
namespace {

std::string Selected(std::string_view text, const std::vector<std::vector<std::string>>& paths) {
  const auto table = ParseToml(text, "config", "test");
  EXPECT_TRUE(table);
  const toml::table selected = Select(*table, paths);
  return selected.empty() ? "" : TomlText(selected);
}

constexpr std::string_view kText =
    "model = \"m\"\nother = 1\n[servers.a]\nargs = [\"1\", 2]\ncommand = \"x\"\n"
    "[servers.b]\nurl = \"y\"\n[[list]]\nq = 1\n[empty]\n";

TEST(TomlSelectionTest, HasWhatWasAskedForAlone) {
  EXPECT_EQ(Selected(kText, {{"model"}}), "model = \"m\"\n");
  EXPECT_EQ(Selected(kText, {{"servers", "a", "args"}}), "[servers.a]\nargs = [ \"1\", 2 ]\n");
  EXPECT_EQ(Selected(kText, {{"missing"}, {"servers", "c"}, {"servers", "a", "x", "y"}}), "");
}

TEST(TomlSelectionTest, JoinsPaths) {
  const std::string both = Selected(kText, {{"servers"}});
  EXPECT_EQ(Selected(kText, {{"servers", "b"}, {"servers", "a"}}), both);
  EXPECT_EQ(Selected(kText, {{"servers"}, {"servers", "a"}}), both);
  EXPECT_EQ(Selected(kText, {{"servers", "a"}, {"servers"}}), both);
}

TEST(TomlSelectionTest, EndsAtAValueThatIsNoTable) {
  EXPECT_EQ(Selected(kText, {{"model", "x"}}), "model = \"m\"\n");
  EXPECT_EQ(Selected(kText, {{"list", "q"}}), "[[list]]\nq = 1\n");
}

TEST(TomlSelectionTest, HasTablesThatAreEmpty) { EXPECT_EQ(Selected(kText, {{"empty"}}), "[empty]\n"); }

TEST(TomlSelectionTest, IsTheSameWhenItIsReadAgain) {
  const std::string text = Selected(
      "a = \"q\\\"uo'te\\n\\\\ \\u0001 \xC3\xA9\"\nb = inf\nc = 1979-05-27T07:32:00Z\n"
      "\"odd key\" = 1\nd = 07:32:00.5\ne = [{x = 1}, [1.5, true]]\n",
      {{"a"}, {"b"}, {"c"}, {"odd key"}, {"d"}, {"e"}});
  EXPECT_EQ(Selected(text, {{"a"}, {"b"}, {"c"}, {"odd key"}, {"d"}, {"e"}}), text);
  const auto table = ParseToml(text, "config", "test");
  ASSERT_TRUE(table) << text;
  EXPECT_EQ((*table)["a"].value<std::string>(), "q\"uo'te\n\\ \x01 \xC3\xA9");
  EXPECT_EQ(table->size(), 6U);
}

}  // namespace
}  // namespace holdfast::codex_config
