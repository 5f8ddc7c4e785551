#include "mcp/shell_output.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mcp {
namespace {

using From = ProgressText::From;

TEST(ProgressTextTest, ReturnsEachTextOnce) {
  ProgressText progress;
  EXPECT_TRUE(progress.empty());
  progress.Append(From::kOut, "a");
  progress.Append(From::kErr, "b");
  EXPECT_FALSE(progress.empty());
  EXPECT_EQ(progress.Take(), "ab");
  EXPECT_TRUE(progress.empty());
  progress.Append(From::kOut, "c");
  EXPECT_EQ(progress.Take(), "c");
}

TEST(ProgressTextTest, KeepsBackACharacterUntilItIsComplete) {
  ProgressText progress;
  progress.Append(From::kOut, "x\xe2\x82");
  progress.Append(From::kErr, "y\xc3");
  EXPECT_EQ(progress.Take(), "xy");
  progress.Append(From::kOut, "\xac");
  EXPECT_EQ(progress.Take(), "\xe2\x82\xac");
  progress.Append(From::kErr, "\xa4!");
  EXPECT_EQ(progress.Take(), "\xc3\xa4!");
}

TEST(ProgressTextTest, LeavesOutTheOldestOfMuchText) {
  ProgressText progress;
  progress.Append(From::kOut, std::string(10, 'a'));
  progress.Append(From::kOut, std::string(kMaxProgressBytes, 'b'));
  EXPECT_EQ(progress.Take(), "[10 bytes were left out]\n" + std::string(kMaxProgressBytes, 'b'));
  progress.Append(From::kOut, "c");
  EXPECT_EQ(progress.Take(), "c");
}

TEST(ProgressTextTest, LeavesOutWholeCharacters) {
  ProgressText progress;
  progress.Append(From::kOut, "\xe2\x82\xac" + std::string(kMaxProgressBytes - 1, 'b'));
  EXPECT_EQ(progress.Take(), "[3 bytes were left out]\n" + std::string(kMaxProgressBytes - 1, 'b'));
}

}  // namespace
}  // namespace holdfast::mcp
