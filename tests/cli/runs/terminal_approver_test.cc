#include "cli/runs/terminal_approver.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using testing::HasSubstr;

wire::ExecApproveParams Question() {
  wire::ExecApproveParams question;
  question.file = "/usr/bin/git";
  question.argv = {"git", "push", "--force"};
  question.cwd = "/work";
  return question;
}

TEST(QuestionTextTest, TellsWhatWouldRunAndWhere) {
  EXPECT_EQ(QuestionText(Question()),
            "holdfast: the command wants to run\n    /usr/bin/git push --force\n  in /work\n");
  auto question = Question();
  question.proposed = wire::ExecDecision::kEscalate;
  question.reason = "Pushes need a look.";
  question.rule = "prefix_rule(...), team.rules:3";
  EXPECT_EQ(QuestionText(question),
            "holdfast: the command wants to run, outside of the sandbox,\n    /usr/bin/git push --force\n  in /work\n"
            "  Pushes need a look.\n  prefix_rule(...), team.rules:3\n");
}

TEST(QuestionTextTest, ShowsTheVariablesOfACommandThatWouldRunOutside) {
  auto question = Question();
  question.env = {{"GIT_AUTHOR_NAME", "a b"}, {"TERM", "dumb\x1b"}};
  EXPECT_FALSE(QuestionText(question).contains("GIT_AUTHOR_NAME"));
  question.proposed = wire::ExecDecision::kEscalate;
  EXPECT_THAT(QuestionText(question), HasSubstr("\n  in /work\n  with GIT_AUTHOR_NAME='a b' TERM=$'dumb\\x1b'\n"));
}

// A command chooses its argv[0] and its arguments, and could write over the question.
TEST(QuestionTextTest, ShowsArgumentsThatCannotBeMistaken) {
  auto question = Question();
  question.argv = {"harmless", "", "a b", "\x1b[2J\r", "it's", "x\n  in /safe", "\xe2\x80\xae"};
  EXPECT_THAT(QuestionText(question),
              HasSubstr(R"(    /usr/bin/git '' 'a b' $'\x1b[2J\x0d' 'it'\''s' $'x\n  in /safe' $'\xe2\x80\xae')"));
}

TEST(QuestionTextTest, ShowsReasonsOnOneLine) {
  auto question = Question();
  question.reason = "Fine.\n\xe2\x80\xae";
  EXPECT_THAT(QuestionText(question), HasSubstr(R"(  Fine.\n\u202e)"));
}

}  // namespace
}  // namespace holdfast::cli
