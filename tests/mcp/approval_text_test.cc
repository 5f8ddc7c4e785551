#include "mcp/approval_text.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mcp {
namespace {

using testing::EndsWith;
using testing::StartsWith;

TEST(ShownWordTest, QuotesOnlyWhatNeedsQuotes) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain-word_1.txt", "plain-word_1.txt"},
      {"/a/b:c=d,e+f@g%h", "/a/b:c=d,e+f@g%h"},
      {"", "''"},
      {"two words", "'two words'"},
      {"it's", R"('it'\''s')"},
      {"$HOME;rm", "'$HOME;rm'"},
      {"\xc3\xa4", "'\xc3\xa4'"},
  };
  for (const auto& [word, shown] : cases) EXPECT_EQ(ShownWord(word), shown);
}

TEST(ShownWordTest, ShowsWhatAUserCouldNotSee) {
  const std::pair<std::string, std::string> cases[] = {
      {"a\nb", R"($'a\nb')"},
      {"a\x1b[2K", R"($'a\x1b[2K')"},
      {"a`b", R"($'a\x60b')"},
      {"\xff", R"($'\xff')"},
      {"a\xe2\x80\xae"
       "b",
       R"($'a\xe2\x80\xaeb')"},
      {"\xc2\x9b", R"($'\xc2\x9b')"},
      {"it's\t\\", R"($'it\'s\x09\\')"},
  };
  for (const auto& [word, shown] : cases) EXPECT_EQ(ShownWord(word), shown);
}

TEST(ApprovalMessageTest, NamesTheFileTheArgumentsAndTheDirectory) {
  EXPECT_EQ(ApprovalMessage({.file = "/usr/bin/hostname", .argv = {"hostname"}, .cwd = "/tmp"}),
            "Allow agent to run `/usr/bin/hostname` in `/tmp`?");
  EXPECT_EQ(ApprovalMessage({.file = "/usr/bin/git", .argv = {"x", "commit", "-m", "two words"}, .cwd = "/p"}),
            "Allow agent to run `/usr/bin/git commit -m 'two words'` in `/p`?");
  EXPECT_EQ(ApprovalMessage({.file = "/bin/true", .argv = {}, .cwd = "/"}), "Allow agent to run `/bin/true` in `/`?");
}

TEST(ApprovalMessageTest, HasTheReasonOnALineOfItsOwn) {
  EXPECT_EQ(ApprovalMessage({.file = "/bin/rm", .argv = {"rm"}, .cwd = "/", .reason = "It deletes files."}),
            "Allow agent to run `/bin/rm` in `/`?\nIt deletes files.");
}

TEST(ApprovalMessageTest, SaysWhenItShowsNotAll) {
  const std::string text =
      ApprovalMessage({.file = "/bin/echo", .argv = {"echo", std::string(100'000, 'x')}, .cwd = "/"});
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_THAT(text, StartsWith("Allow agent to run `/bin/echo xxx"));
  EXPECT_THAT(text, EndsWith("x [83626 more bytes are not shown]` in `/`?"));
}

}  // namespace
}  // namespace holdfast::mcp
