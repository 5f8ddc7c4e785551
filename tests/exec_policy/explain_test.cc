#include "exec_policy/explain.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_policy/rules_of.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::HasSubstr;

std::string Explained(const std::string& rules, std::string_view line) {
  const std::vector<std::string> command = WordsOf(line);
  return Explain(RulesOf(rules).Evaluate(command, Places{.cwd = "/work", .home = "/"}), command);
}

TEST(ExplainTest, TellsTheRuleThatDecidedAndThoseThatLost) {
  EXPECT_EQ(Explained("prefix_rule(['git'])\n"
                      "prefix_rule(['git', 'push'], 'prompt', justification='Pushes are public.')\n"
                      "prefix_rule(['git', 'push'], 'prompt')\n",
                      "git push origin"),
            R"(prompt: somebody has to approve the command, which then runs outside of the sandbox
decided by
  prefix_rule(pattern=["git", "push"], decision="prompt") at test.rules:2
    justification: Pushes are public.
also matches, and loses, because prompt is stricter than allow
  prefix_rule(pattern=["git"], decision="allow") at test.rules:1
also matches, and has the same decision
  prefix_rule(pattern=["git", "push"], decision="prompt") at test.rules:3
)");
}

TEST(ExplainTest, TellsTheProgramThatABaseNameStandsFor) {
  EXPECT_THAT(Explained("prefix_rule(['a'], 'forbidden')", "./a"), HasSubstr("and the program is /work/a"));
}

TEST(ExplainTest, TellsWhatHappensWithoutARule) {
  EXPECT_EQ(Explained("", "ls"), "no rule: the command runs, inside of the sandbox\n");
  EXPECT_EQ(Explained("", "rm -rf x"),
            "no rule: the command is on the list of dangerous commands; somebody has to approve it, and it then runs "
            "inside of the sandbox\n");
}

TEST(ExplainTest, SendsNothingToTheTerminalThatARuleHides) {
  const std::string text = Explained("prefix_rule(['a'], justification='\\x1b]0;x\\x07' + 'y' * 100000)\n", "a");
  EXPECT_THAT(text, HasSubstr("justification: \\x1b]0;x\\x07yyy"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 2000u);
}

TEST(ExplainTest, QuotesWordsAsRulesWriteThem) {
  EXPECT_THAT(Explained(R"(prefix_rule(["a\"b\\c\td\x01é"]))", "'a\"b\\c\td\x01é'"),
              HasSubstr(R"(pattern=["a\"b\\c\td\x01é"])"));
}

}  // namespace
}  // namespace holdfast::exec_policy
