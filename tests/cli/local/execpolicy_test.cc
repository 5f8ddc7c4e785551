// The commands `holdfast execpolicy check` and `allow`, as the built program.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

class ExecpolicyTest : public CommandFixture {
 protected:
  ExecpolicyTest() {
    scratch_.Write("git.rules",
                   "prefix_rule(pattern=[\"git\"])\n"
                   "prefix_rule(pattern=[\"git\", \"push\"], decision=\"prompt\", justification=\"Ask \\\"me\\\".\")\n"
                   "host_executable(name=\"git\", paths=[\"" +
                       scratch_.path() + "/git\"])\n");
    scratch_.Write("flags.rules", "prefix_rule(pattern=[\"-x\"])\nprefix_rule(pattern=[\"ls\", \"--pretty\"])\n");
    scratch_.Write("bad.rules", "\nprefix_rule(pattern=[])\n");
  }
};

TEST_F(ExecpolicyTest, PrintsEveryMatchAndTheDecision) {
  EXPECT_EQ(
      Output("holdfast execpolicy check --rules git.rules git push origin"),
      R"({"matchedRules":[{"prefixRuleMatch":{"matchedPrefix":["git"],"decision":"allow"}},)"
      R"({"prefixRuleMatch":{"matchedPrefix":["git","push"],"decision":"prompt","justification":"Ask \"me\"."}}],)"
      R"("decision":"prompt"})"
      "\n");
}

TEST_F(ExecpolicyTest, WithoutAMatchThereIsNoDecision) {
  EXPECT_EQ(Output("holdfast execpolicy check -r git.rules ls"), "{\"matchedRules\":[]}\n");
}

TEST_F(ExecpolicyTest, PrettyJsonHasTwoSpacesForEachLevel) {
  EXPECT_EQ(Output("holdfast execpolicy check -r git.rules --pretty git log"), R"({
  "matchedRules": [
    {
      "prefixRuleMatch": {
        "matchedPrefix": [
          "git"
        ],
        "decision": "allow"
      }
    }
  ],
  "decision": "allow"
}
)");
  EXPECT_EQ(Output("holdfast execpolicy check -r git.rules --pretty ls"), "{\n  \"matchedRules\": []\n}\n");
}

TEST_F(ExecpolicyTest, ResolvesTheProgramIfAsked) {
  EXPECT_EQ(Output("holdfast execpolicy check -r git.rules ./git log"), "{\"matchedRules\":[]}\n");
  EXPECT_THAT(Output("holdfast execpolicy check -r git.rules --resolve-host-executables ./git log"),
              HasSubstr("\"resolvedProgram\":\"" + Path("git") + "\""));
  EXPECT_THAT(Output("HOME=$PWD holdfast execpolicy check -r git.rules --resolve-host-executables '~/git' log"),
              HasSubstr("\"resolvedProgram\":\"" + Path("git") + "\""));
}

TEST_F(ExecpolicyTest, AllFilesMakeOneSetOfRules) {
  EXPECT_THAT(Output("holdfast execpolicy check -r git.rules --rules=flags.rules ls --pretty"), HasSubstr("--pretty"));
}

TEST_F(ExecpolicyTest, TheCommandMayBeginWithADash) {
  EXPECT_THAT(Output("holdfast execpolicy check -r flags.rules -x --help"), HasSubstr(R"("matchedPrefix":["-x"])"));
  EXPECT_THAT(Output("holdfast execpolicy check -r flags.rules -- -x"), HasSubstr(R"("matchedPrefix":["-x"])"));
}

TEST_F(ExecpolicyTest, ExplainsInWords) {
  EXPECT_EQ(Output("holdfast execpolicy check -r git.rules --explain git push"),
            "prompt: somebody has to approve the command, which then runs outside of the sandbox\n"
            "decided by\n"
            "  prefix_rule(pattern=[\"git\", \"push\"], decision=\"prompt\") at git.rules:2\n"
            "    justification: Ask \"me\".\n"
            "also matches, and loses, because prompt is stricter than allow\n"
            "  prefix_rule(pattern=[\"git\"], decision=\"allow\") at git.rules:1\n");
}

TEST_F(ExecpolicyTest, ShowsTheMistakeInARulesFile) {
  const support::Outcome outcome = Run("holdfast execpolicy check -r git.rules -r bad.rules git");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("pattern is empty"));
  EXPECT_THAT(outcome.err, HasSubstr("bad.rules:2:1"));
}

TEST_F(ExecpolicyTest, RefusesAFileThatIsMissing) {
  EXPECT_EQ(Refusal("holdfast execpolicy check -r none.rules git", 1),
            "holdfast execpolicy check: open none.rules: No such file or directory\n");
}

TEST_F(ExecpolicyTest, AllowAppendsARuleThatCheckFinds) {
  const std::string rule = "prefix_rule(pattern=[\"npm\", \"run\", \"-s\"], decision=\"allow\")\n";
  EXPECT_EQ(Output("holdfast execpolicy allow --rules own.rules npm run -s"),
            rule + "was appended to " + Path("own.rules") + "\n");
  EXPECT_EQ(Content("own.rules"), rule);
  EXPECT_THAT(Output("holdfast execpolicy check -r own.rules npm run -s build"), HasSubstr(R"("decision":"allow")"));
}

TEST_F(ExecpolicyTest, AllowDoesNotRepeatARule) {
  Output("holdfast execpolicy allow -r own.rules ls");
  const std::string before = Content("own.rules");
  EXPECT_THAT(Output("holdfast execpolicy allow -r own.rules ls"), HasSubstr("is already in " + Path("own.rules")));
  EXPECT_EQ(Content("own.rules"), before);
}

TEST_F(ExecpolicyTest, AllowUsesTheApprovedRulesOfTheUser) {
  EXPECT_THAT(Output("HOME=$PWD CODEX_HOME= holdfast execpolicy allow ls"),
              HasSubstr(Path(".codex/rules/default.rules")));
  EXPECT_EQ(Content(".codex/rules/default.rules"), "prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n");
  EXPECT_THAT(Output("CODEX_HOME=$PWD/home holdfast execpolicy allow ls"), HasSubstr(Path("home/rules/default.rules")));
  EXPECT_THAT(Refusal("env -u HOME -u CODEX_HOME holdfast execpolicy allow ls", 1), HasSubstr("--rules"));
}

TEST_F(ExecpolicyTest, AllowLeavesAFileWithAMistakeAsItIs) {
  scratch_.Write("open.rules", "x = \"\"\"text");
  const support::Outcome outcome = Run("holdfast execpolicy allow -r open.rules ls");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("open.rules:1:"));
  EXPECT_EQ(Content("open.rules"), "x = \"\"\"text");
}

TEST_F(ExecpolicyTest, AllowRefusesAFileThatOthersCanWrite) {
  scratch_.Write("shared.rules", "", 0666);
  EXPECT_THAT(Refusal("holdfast execpolicy allow -r shared.rules ls", 1), HasSubstr("can be written by other users"));
  EXPECT_EQ(Content("shared.rules"), "");
}

TEST_F(ExecpolicyTest, RefusesACommandLineWithoutRulesOrCommand) {
  EXPECT_THAT(Refusal("holdfast execpolicy check git", 2), HasSubstr("--rules"));
  EXPECT_THAT(Refusal("holdfast execpolicy check -r git.rules", 2), HasSubstr("COMMAND is required"));
  EXPECT_THAT(Refusal("holdfast execpolicy allow", 2), HasSubstr("WORD is required"));
  EXPECT_THAT(Refusal("holdfast execpolicy", 2), HasSubstr("a subcommand is required"));
}

}  // namespace
}  // namespace holdfast::cli
