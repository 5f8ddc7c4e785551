#include "transport/line_splitter.h"

#include <vector>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

using Lines = std::vector<std::string>;

Lines TakeAll(LineSplitter& splitter) {
  Lines lines;
  while (const auto line = splitter.Next()) lines.emplace_back(*line);
  return lines;
}

TEST(LineSplitterTest, FindsTheSameLinesHoweverTheInputIsCut) {
  const std::string input = "{\"a\":1}\n\n  \t\n{\"b\":2}\r\n\r\nlast\n";
  for (size_t cut = 0; cut <= input.size(); ++cut) {
    LineSplitter splitter(100);
    splitter.Append(input.substr(0, cut));
    Lines lines = TakeAll(splitter);
    splitter.Append(input.substr(cut));
    for (std::string& line : TakeAll(splitter)) lines.push_back(std::move(line));
    ASSERT_EQ(lines, (Lines{"{\"a\":1}", "{\"b\":2}", "last"})) << "cut at " << cut;
    ASSERT_EQ(splitter.Last(), std::nullopt);
  }
}

TEST(LineSplitterTest, GivesTheUnfinishedLineAtTheEnd) {
  LineSplitter splitter(100);
  splitter.Append("one\ntwo");
  EXPECT_EQ(TakeAll(splitter), Lines{"one"});
  EXPECT_EQ(splitter.Last(), "two");
  EXPECT_EQ(splitter.Last(), std::nullopt);
}

TEST(LineSplitterTest, DoesNotTakeBlanksAtTheEndForALine) {
  LineSplitter splitter(100);
  splitter.Append("one\n  \r");
  EXPECT_EQ(TakeAll(splitter), Lines{"one"});
  EXPECT_EQ(splitter.Last(), std::nullopt);
}

TEST(LineSplitterTest, KeepsBlanksInsideALine) {
  LineSplitter splitter(100);
  splitter.Append("  a b\r c \n");
  EXPECT_EQ(TakeAll(splitter), Lines{"  a b\r c "});
}

TEST(LineSplitterTest, TakesALineOfExactlyTheLimit) {
  LineSplitter splitter(4);
  splitter.Append("1234\r\n");
  EXPECT_EQ(TakeAll(splitter), Lines{"1234"});
  EXPECT_FALSE(splitter.overlong());
}

TEST(LineSplitterTest, RefusesALongerLineBeforeAndAfterItsNewlineArrives) {
  LineSplitter unfinished(4);
  unfinished.Append("12345");
  EXPECT_EQ(unfinished.Next(), std::nullopt);
  EXPECT_TRUE(unfinished.overlong());

  LineSplitter finished(4);
  finished.Append("ok\n12345\nok\n");
  EXPECT_EQ(TakeAll(finished), Lines{"ok"});
  EXPECT_TRUE(finished.overlong());
}

TEST(LineSplitterTest, SkipsALongerLineHoweverTheInputIsCut) {
  const std::string input = "ok\n12345\n\n1234567\r\n1234\nlonger";
  for (size_t cut = 0; cut <= input.size(); ++cut) {
    LineSplitter splitter(4, LongLines::kSkip);
    splitter.Append(input.substr(0, cut));
    Lines lines = TakeAll(splitter);
    splitter.Append(input.substr(cut));
    for (std::string& line : TakeAll(splitter)) lines.push_back(std::move(line));
    ASSERT_EQ(lines, (Lines{"ok", "", "", "1234", ""})) << "cut at " << cut;
    ASSERT_EQ(splitter.Last(), std::nullopt);
    ASSERT_FALSE(splitter.overlong());
  }
}

TEST(LineSplitterTest, KeepsNothingOfALineThatItSkips) {
  LineSplitter splitter(100, LongLines::kSkip);
  for (int i = 0; i < 1000; ++i) {
    splitter.Append(std::string(10'000, 'x'));
    TakeAll(splitter);
  }
  EXPECT_LT(splitter.GrownSize(0), 100'000u);
  splitter.Append("\nnext\n");
  EXPECT_EQ(TakeAll(splitter), Lines{"next"});
}

}  // namespace
}  // namespace holdfast::transport
