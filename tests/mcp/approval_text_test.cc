#include "mcp/elicitation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mcp {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

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

TEST(ApprovalMessageTest, SaysWhenTheCommandWouldRunOutside) {
  escalate::Question question{.file = "/bin/rm", .argv = {"rm"}, .cwd = "/", .reason = "It deletes files."};
  question.when_approved = exec_policy::Action::kEscalate;
  EXPECT_EQ(ApprovalMessage(question),
            "Allow agent to run `/bin/rm` in `/`?\nIt will run outside of the sandbox.\nIt deletes files.");
}

TEST(ApprovalMessageTest, ShowsTheVariablesOfACommandThatWouldRunOutside) {
  escalate::Question question{
      .file = "/usr/bin/git", .argv = {"git"}, .cwd = "/", .variables = {{"A", "1"}, {"B", "x y`\n"}, {"C", ""}}};
  EXPECT_EQ(ApprovalMessage(question), "Allow agent to run `/usr/bin/git` in `/`?");
  question.when_approved = exec_policy::Action::kEscalate;
  EXPECT_EQ(ApprovalMessage(question),
            "Allow agent to run `/usr/bin/git` in `/`?\nIt will run outside of the sandbox.\n"
            "It will get `A=1 B=$'x y\\x60\\n' C=''`.");
}

TEST(ApprovalMessageTest, LetsNoReasonImitateAnotherLine) {
  EXPECT_THAT(ApprovalMessage({.file = "/bin/rm", .argv = {"rm"}, .cwd = "/", .reason = "a\nb \xe2\x80\xae c"}),
              EndsWith("\na\\nb \\u202e c"));
}

TEST(ApprovalMessageTest, SaysWhenItShowsNotAll) {
  const std::string text =
      ApprovalMessage({.file = "/bin/echo", .argv = {"echo", std::string(100'000, 'x')}, .cwd = "/"});
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_THAT(text, StartsWith("Allow agent to run `/bin/echo xxx"));
  EXPECT_THAT(text, HasSubstr("x[99232 bytes are not shown]x"));
}

}  // namespace
}  // namespace holdfast::mcp
