#include "apply_patch/line_search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "apply_patch/plain_search.h"

namespace holdfast::apply_patch {
namespace {

using Lines = std::vector<std::string_view>;

std::optional<size_t> Find(const Lines& lines, const Lines& wanted, size_t from = 0) {
  return LineSearch(lines).Find(wanted, from);
}

TEST(LineSearchTest, FindsTheFirstPlaceAtOrAfterTheStart) {
  const Lines lines = {"a", "b", "a", "b", "a"};
  EXPECT_EQ(Find(lines, {"a", "b"}), 0u);
  EXPECT_EQ(Find(lines, {"a", "b"}, 1), 2u);
  EXPECT_EQ(Find(lines, {"a", "b"}, 3), std::nullopt);
  EXPECT_EQ(Find(lines, {"a"}, 4), 4u);
  EXPECT_EQ(Find(lines, {"a"}, 5), std::nullopt);
  EXPECT_EQ(Find({}, {"a"}), std::nullopt);
}

TEST(LineSearchTest, PrefersAStricterLevelToAnEarlierPlace) {
  EXPECT_EQ(Find({"a ", "a"}, {"a"}), 1u);
  EXPECT_EQ(Find({" a", "a "}, {"a"}), 1u);
  EXPECT_EQ(Find({"\u2013", " -"}, {"-"}), 1u);
  EXPECT_EQ(Find({"x", "\u2013"}, {"-"}), 1u);
  EXPECT_EQ(Find({"a\u2026"}, {"a..."}), std::nullopt);
}

TEST(LineSearchTest, HoldsAllLinesToOneLevel) {
  EXPECT_EQ(Find({"a", "b ", "a ", "b "}, {"a", "b"}), 0u);
  EXPECT_EQ(Find({"a ", " b", "a", "b "}, {"a", "b"}), 2u);
}

TEST(LineSearchTest, LooksOnlyAtTheEndIfAskedTo) {
  const Lines lines = {"a", "a "};
  EXPECT_EQ(LineSearch(lines).FindAtEnd(Lines{"a"}, 0), 1u);
  EXPECT_EQ(LineSearch(lines).FindAtEnd(Lines{"a"}, 2), std::nullopt);
  EXPECT_EQ(LineSearch(lines).FindAtEnd(Lines{"a", "a"}, 0), 0u);
  EXPECT_EQ(LineSearch(lines).FindAtEnd(Lines{"a", "a", "a"}, 0), std::nullopt);
  EXPECT_EQ(LineSearch(lines).FindAtEnd(Lines{"b"}, 0), std::nullopt);
}

TEST(LineSearchTest, FindsWhatThePlainSearchFinds) {
  std::mt19937 random(1);
  const Lines words = {"a", "a ", " a", "b", "", "\u2014", "-"};
  const auto some = [&](size_t count) {
    Lines lines;
    for (size_t i = 0; i < count; ++i) lines.push_back(words[random() % words.size()]);
    return lines;
  };
  for (int round = 0; round < 300; ++round) {
    const Lines lines = some(random() % 30);
    LineSearch search(lines);
    for (size_t from = 0; from <= lines.size(); from += random() % 4) {
      const Lines wanted = some(1 + random() % 3);
      EXPECT_EQ(search.Find(wanted, from), PlainFind(lines, wanted, from)) << round;
      if (testing::Test::HasFailure()) return;
    }
  }
}

// A search without an index would compare all lines at the strict level before it found anything at the next level.
TEST(LineSearchTest, DoesNotReadTheFileAgainForEachSearch) {
  std::vector<std::string> texts;
  for (int i = 0; i < 60'000; ++i) texts.push_back("line " + std::to_string(i));
  const Lines lines(texts.begin(), texts.end());
  LineSearch search(lines);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string loose = texts[i] + " ";
    ASSERT_EQ(search.Find(Lines{loose, lines[i + 1]}, i), i);
  }
  // Without an index this takes 1.8 billion comparisons, longer than the limit on any machine. With an index it takes a
  // fraction of a second.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace holdfast::apply_patch
