#include "mcp/shell_output.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mcp {
namespace {

using testing::EndsWith;

std::string Text(const std::string& out, const std::string& err) {
  ShellOutput output;
  output.AppendOut(out);
  output.AppendErr(err);
  return output.Text();
}

// A failed comparison shows only the end of a long text.
std::string LastOf(const std::string& text) { return text.substr(text.size() - std::min<size_t>(text.size(), 100)); }

TEST(ShellOutputTest, PutsStandardErrorBehindStandardOutput) {
  ShellOutput output;
  output.AppendErr("e1 ");
  output.AppendOut("o1 ");
  output.AppendErr("e2");
  output.AppendOut("o2 ");
  EXPECT_EQ(output.Text(), "o1 o2 e1 e2");
  EXPECT_EQ(output.total_bytes(), 11u);
}

TEST(ShellOutputTest, KeepsAsMuchAsThereIsRoomFor) {
  const std::string all(kMaxOutputBytes, 'x');
  EXPECT_EQ(Text(all, ""), all);
  EXPECT_EQ(Text("", all), all);
  const std::string half(kMaxOutputBytes / 2, 'x');
  EXPECT_EQ(Text(half, half), all);
}

TEST(ShellOutputTest, TellsWhatWasLeftOut) {
  const std::string more(kMaxOutputBytes + 7, 'x');
  const std::string text = Text(more, "");
  EXPECT_THAT(LastOf(text), EndsWith("x\n[7 bytes were left out: 7 of stdout, 0 of stderr]\n"));
  EXPECT_EQ(text.find('\n'), kMaxOutputBytes);
}

TEST(ShellOutputTest, GivesStandardOutputAThirdOfTheRoomIfBothAreLong) {
  const std::string text = Text(std::string(kMaxOutputBytes, 'o'), std::string(kMaxOutputBytes, 'e'));
  EXPECT_EQ(text.find('e'), kMaxOutputBytes / 3);
  EXPECT_EQ(text.find('\n'), kMaxOutputBytes);
  EXPECT_THAT(LastOf(text), EndsWith(": 699051 of stdout, 349525 of stderr]\n"));
}

TEST(ShellOutputTest, GivesStandardOutputWhatStandardErrorLeaves) {
  const std::string text = Text(std::string(kMaxOutputBytes, 'o'), std::string(100, 'e'));
  EXPECT_EQ(text.find('e'), kMaxOutputBytes - 100);
  EXPECT_THAT(LastOf(text), EndsWith("e\n[100 bytes were left out: 100 of stdout, 0 of stderr]\n"));
}

TEST(ShellOutputTest, GivesStandardErrorWhatStandardOutputLeaves) {
  const std::string text = Text(std::string(100, 'o'), std::string(kMaxOutputBytes, 'e'));
  EXPECT_EQ(text.find('e'), 100u);
  EXPECT_THAT(LastOf(text), EndsWith("e\n[100 bytes were left out: 0 of stdout, 100 of stderr]\n"));
}

TEST(ShellOutputTest, SplitsNoCharacter) {
  const std::string text = Text(std::string(kMaxOutputBytes - 1, 'x') + "\xc3\xa4", "");
  EXPECT_THAT(LastOf(text), EndsWith("x\n[2 bytes were left out: 2 of stdout, 0 of stderr]\n"));
}

}  // namespace
}  // namespace holdfast::mcp
