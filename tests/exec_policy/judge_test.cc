#include "exec_policy/judge.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_policy/rules_of.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using enum ProgramNames;

// The attempt to execute `file` with the words of `line` as argv.
Judgement JudgeLine(const Policy& policy, std::string_view file, std::string_view line, ProgramNames names = kBaseName,
                    ProgramFile program_file = ProgramFile::kOfSystem) {
  const std::vector<std::string> argv = WordsOf(line);
  return Judge(policy, {.file = file, .argv = argv, .cwd = "/work", .program_file = program_file}, names);
}

TEST(JudgeTest, ACommandWithoutARuleRunsInside) {
  EXPECT_EQ(JudgeLine(Policy(), "/bin/ls", "ls -l"), Judgement{.action = Action::kRun});
}

TEST(JudgeTest, ADangerousCommandWithoutARuleIsAskedAboutAndRunsInside) {
  const Judgement judgement = JudgeLine(Policy(), "/bin/rm", "rm -rf x");
  EXPECT_EQ(judgement.action, Action::kRun);
  EXPECT_TRUE(judgement.asks);
  EXPECT_THAT(judgement.reason, HasSubstr("destroy"));
  EXPECT_EQ(judgement.rule, "");
}

TEST(JudgeTest, ARuleThatAllowsTakesTheCommandOut) {
  const Judgement expected = {.action = Action::kEscalate,
                              .rule = R"(prefix_rule(pattern=["rm"], decision="allow") at test.rules:1)"};
  EXPECT_EQ(JudgeLine(RulesOf("prefix_rule(['rm'])"), "/bin/rm", "rm -rf x"), expected);
}

TEST(JudgeTest, ARuleThatPromptsAsksWithItsJustification) {
  const Policy policy = RulesOf("prefix_rule(['git', 'push'], 'prompt', justification='Pushes are public.')");
  const Judgement expected = {.action = Action::kEscalate,
                              .asks = true,
                              .reason = "Pushes are public.",
                              .rule = R"(prefix_rule(pattern=["git", "push"], decision="prompt") at test.rules:1)"};
  EXPECT_EQ(JudgeLine(policy, "/usr/bin/git", "git push -f"), expected);
  EXPECT_THAT(JudgeLine(RulesOf("prefix_rule(['a'], 'prompt')"), "/a", "a").reason, HasSubstr("asks for approval"));
}

TEST(JudgeTest, ARuleThatForbidsDenies) {
  const Judgement expected = {.action = Action::kDeny,
                              .reason = "Use trash.",
                              .rule = R"(prefix_rule(pattern=["rm"], decision="forbidden") at test.rules:1)"};
  EXPECT_EQ(JudgeLine(RulesOf("prefix_rule(['rm'], 'forbidden', justification='Use trash.')"), "/bin/rm", "rm"),
            expected);
  EXPECT_EQ(JudgeLine(RulesOf("prefix_rule(['rm'], 'forbidden')"), "/bin/rm", "rm").reason,
            "Execution forbidden by policy");
}

TEST(JudgeTest, AReasonCanBeShownOnATerminal) {
  const Policy policy = RulesOf("prefix_rule(['a'], 'forbidden', justification='\\x1b[2J')");
  EXPECT_EQ(JudgeLine(policy, "/a", "a").reason, "\\x1b[2J");
}

TEST(JudgeTest, OfRulesWithTheSameDecisionOneWithAJustificationSpeaks) {
  const Policy policy = RulesOf(
      "prefix_rule(['a'], justification='not strict')\n"
      "prefix_rule(['a'], 'prompt')\n"
      "prefix_rule(['a'], 'prompt', justification='first')\n"
      "prefix_rule(['a'], 'prompt', justification='second')\n");
  const Judgement judgement = JudgeLine(policy, "/a", "a");
  EXPECT_EQ(judgement.reason, "first");
  EXPECT_THAT(judgement.rule, HasSubstr("test.rules:3"));
}

TEST(JudgeTest, TheFileAndTheNameItIsCalledByAreJudgedAndTheStricterJudgementCounts) {
  const Policy policy = RulesOf(
      "prefix_rule(['rm', 'x'], 'forbidden')\nprefix_rule(['git', 'push'], 'forbidden')\n"
      "prefix_rule(['git', 'status'])\nprefix_rule(['ask'], 'prompt')\nprefix_rule(['busy'])\nprefix_rule(['ls'])");
  struct Case {
    std::string_view file, line;
    Action action;
    bool asks = false;
  };
  const Case cases[] = {
      {"/bin/rm", "innocent x", Action::kDeny},
      {"/bin/ls", "rm x", Action::kDeny},
      {"/bin/ls", "/usr/bin/rm x", Action::kDeny},
      {"/bin/ls", "-rm x", Action::kDeny},
      {"/bin/ls", "rm y", Action::kRun},
      {"/usr/bin/git", "git-push origin", Action::kDeny},
      {"/usr/bin/git", "/x/git-push origin", Action::kDeny},
      {"/usr/bin/git", "git-push status HEAD:q", Action::kDeny},
      {"/usr/bin/git", "git status", Action::kEscalate},
      {"/usr/bin/git", "./git status", Action::kEscalate},
      {"/usr/bin/git", "other status", Action::kRun},
      {"/usr/bin/git", "git-fetch status", Action::kRun},
      {"/usr/bin/git", "busy status", Action::kEscalate},
      {"/usr/bin/git", "ask status", Action::kEscalate, true},
      {"/usr/bin/git", "ask fetch", Action::kRun, true},
      {"/bin/ask", "other", Action::kRun, true},
      {"/bin/rmdir", "rm -rf y", Action::kRun, true},
      // A link to a program of many names is the file that was called. A login shell has the name of its file.
      {"/bin/busy", "busy ls", Action::kEscalate},
      {"/bin/ls", "ls", Action::kEscalate},
      {"/bin/ls", "-ls", Action::kEscalate},
  };
  for (const Case& one : cases) {
    const Judgement judgement = JudgeLine(policy, one.file, one.line);
    EXPECT_EQ(judgement.action, one.action) << one.file << ": " << one.line;
    EXPECT_EQ(judgement.asks, one.asks) << one.file << ": " << one.line;
  }
}

TEST(JudgeTest, TheNameThatAProgramIsCalledByIsLookedUpBesideItsFile) {
  const Policy policy =
      RulesOf("prefix_rule(['/bin/rm'], 'forbidden')\nprefix_rule(['/bin/git', 'push'], 'forbidden')");
  for (const ProgramNames names : {kFullPath, kResolvedPath}) {
    EXPECT_EQ(JudgeLine(policy, "/bin/busybox", "rm", names).action, Action::kDeny);
    EXPECT_EQ(JudgeLine(policy, "/opt/busybox", "/bin/rm", names).action, Action::kRun);
    EXPECT_EQ(JudgeLine(policy, "/bin/git", "git-push", names).action, Action::kDeny);
  }
}

TEST(JudgeTest, AQuestionTellsOfAnotherNameThatTheProgramIsCalledBy) {
  const Policy policy = RulesOf("prefix_rule(['git'], 'prompt', justification='Why?')");
  EXPECT_EQ(JudgeLine(policy, "/bin/git", "-git").reason, "Why?");
  EXPECT_EQ(JudgeLine(policy, "/bin/git", "/x/git-push").reason,
            R"(Why? The program is called by another name: argv[0] is "/x/git-push".)");
  const std::vector<std::string> hostile = {std::string("\n\xff\"") + std::string(1000, 'x')};
  EXPECT_THAT(Judge(policy, {.file = "/bin/git", .argv = hostile}, kBaseName).reason,
              testing::MatchesRegex("Why\\? The program is called by another name: argv.0. is \"[ -~]{500,560}\"\\."));
}

TEST(JudgeTest, AScriptIsJudgedByItsInterpreterToo) {
  const Policy policy = RulesOf(
      "prefix_rule(['no'], 'forbidden')\nprefix_rule(['sh', '-e', '/work/script', 'x'], 'forbidden')\n"
      "prefix_rule(['ask'], 'prompt', justification='Why?')\nprefix_rule(['yes'])\nprefix_rule(['out'])\n"
      "prefix_rule(['asks'], 'prompt', justification='Own.')");
  struct Case {
    std::string_view file;
    std::vector<std::string> argv, interpreter;
    Judgement expected;
  };
  const Case cases[] = {
      {"/work/script", {"script"}, {"/bin/no"}, {.action = Action::kDeny}},
      {"/work/script", {"script"}, {"no"}, {.action = Action::kDeny}},
      {"/work/script", {"script", "x"}, {"/bin/sh", "-e"}, {.action = Action::kDeny}},
      {"/work/script", {"script", "y"}, {"/bin/sh", "-e"}, {}},
      {"/work/script", {}, {"/bin/sh", "-e"}, {}},
      {"/work/script", {"script"}, {"/bin/rm", "-rf"}, {.asks = true}},
      {"/work/script", {"script"}, {"/bin/ask"}, {.asks = true, .reason = "Why?"}},
      {"/work/script", {"script"}, {"/bin/yes"}, {}},
      {"/bin/out", {"out"}, {"/bin/sh"}, {.action = Action::kEscalate}},
      {"/bin/out", {"out"}, {"/bin/ask"}, {.action = Action::kEscalate, .asks = true, .reason = "Why?"}},
      {"/bin/out", {"out"}, {"/bin/no"}, {.action = Action::kDeny}},
      {"/bin/asks", {"asks"}, {"/bin/ask"}, {.action = Action::kEscalate, .asks = true, .reason = "Own."}},
  };
  for (const Case& one : cases) {
    const ExecAttempt attempt{.file = one.file, .argv = one.argv, .cwd = "/work", .interpreter = one.interpreter};
    const Judgement judgement = Judge(policy, attempt, kBaseName);
    EXPECT_EQ(judgement.action, one.expected.action) << one.file << ": " << one.interpreter.front();
    EXPECT_EQ(judgement.asks, one.expected.asks) << one.file << ": " << one.interpreter.front();
    EXPECT_THAT(judgement.reason, HasSubstr(one.expected.reason)) << one.file << ": " << one.interpreter.front();
  }
}

TEST(JudgeTest, AnAttemptWithoutArgumentsHasTheNameOfItsFile) {
  EXPECT_EQ(JudgeLine(RulesOf("prefix_rule(['rm'], 'forbidden')"), "/bin/rm", "").action, Action::kDeny);
}

TEST(JudgeTest, FullPathsAreComparedAsTheyAre) {
  const Policy policy = RulesOf("prefix_rule(['/bin/a'], 'forbidden')\nprefix_rule(['b'], 'forbidden')");
  EXPECT_EQ(JudgeLine(policy, "/bin/a", "a", kFullPath).action, Action::kDeny);
  EXPECT_EQ(JudgeLine(policy, "/bin/b", "b", kFullPath).action, Action::kRun);
  EXPECT_EQ(JudgeLine(policy, "/bin/a", "a", kBaseName).action, Action::kRun);
}

TEST(JudgeTest, ResolvedPathsAreComparedAsTheyAreAndThenByBaseName) {
  const Policy policy = RulesOf(
      "prefix_rule(['/bin/a'], 'forbidden')\nprefix_rule(['b'], 'forbidden')\nhost_executable('b', ['/bin/b'])");
  EXPECT_EQ(JudgeLine(policy, "/bin/a", "a", kResolvedPath).action, Action::kDeny);
  EXPECT_EQ(JudgeLine(policy, "/bin/b", "b", kResolvedPath).action, Action::kDeny);
  EXPECT_EQ(JudgeLine(policy, "/opt/b", "b", kResolvedPath).action, Action::kRun);
}

TEST(JudgeTest, AProgramThatTheCommandCouldHaveWrittenIsNotTakenOutByItsBaseName) {
  const Policy policy = RulesOf("prefix_rule(['a'])\nprefix_rule(['b'], 'prompt')\nprefix_rule(['c'], 'forbidden')");
  for (const ProgramFile file : {ProgramFile::kWritable, ProgramFile::kNotTheSame}) {
    for (const ProgramNames names : {kBaseName, kResolvedPath}) {
      EXPECT_EQ(JudgeLine(policy, "/work/a", "a", names, file).action, Action::kRun);
      EXPECT_FALSE(JudgeLine(policy, "/work/a", "a", names, file).asks);
      EXPECT_EQ(JudgeLine(policy, "/work/b", "b", names, file).action, Action::kRun);
      EXPECT_TRUE(JudgeLine(policy, "/work/b", "b", names, file).asks);
      EXPECT_EQ(JudgeLine(policy, "/work/c", "c", names, file).action, Action::kDeny);
    }
  }
}

TEST(JudgeTest, ARuleAboutTheWholePathTakesOutAlsoAWritableProgram) {
  const Policy policy = RulesOf("prefix_rule(['/work/a'])");
  for (const ProgramNames names : {kFullPath, kResolvedPath}) {
    EXPECT_EQ(JudgeLine(policy, "/work/a", "a", names, ProgramFile::kWritable).action, Action::kEscalate);
  }
}

// Another user may have written it, or a sandboxed command before it was given to root.
TEST(JudgeTest, AProgramThatIsNotTheSystemsIsTakenOutByItsBaseNameOnlyIfHostExecutableListsIt) {
  const Policy policy = RulesOf("prefix_rule(['git'])\nprefix_rule(['a'])\nhost_executable('git', ['/opt/git'])");
  for (const ProgramNames names : {kBaseName, kResolvedPath}) {
    EXPECT_EQ(JudgeLine(policy, "/home/eve/a", "a", names, ProgramFile::kFixed).action, Action::kRun);
    EXPECT_EQ(JudgeLine(policy, "/home/eve/git", "git", names, ProgramFile::kFixed).action, Action::kRun);
    EXPECT_EQ(JudgeLine(policy, "/opt/git", "git", names, ProgramFile::kFixed).action, Action::kEscalate);
    EXPECT_EQ(JudgeLine(policy, "/opt/git", "git", names, ProgramFile::kWritable).action, Action::kRun);
  }
}

TEST(JudgeTest, APathIsComparedInEverySpelling) {
  const Policy policy = RulesOf("prefix_rule(['/usr/bin/uname'], 'forbidden')\nprefix_rule(['uname'])");
  for (const char* path :
       {"/usr/bin/uname", "//usr/bin/uname", "/usr/bin/./uname", "/usr/bin/../bin/uname", "/../usr//bin/uname"}) {
    EXPECT_EQ(JudgeLine(policy, path, "uname", kResolvedPath).action, Action::kDeny) << path;
    EXPECT_EQ(JudgeLine(policy, path, "uname", kFullPath).action, Action::kDeny) << path;
    EXPECT_EQ(JudgeLine(policy, path, "/bin/sh", kResolvedPath).action, Action::kDeny) << path;
  }
}

// A link before the `..` would make the path lead elsewhere outside.
TEST(JudgeTest, NoRuleTakesOutAProgramWhosePathGoesUp) {
  const Policy policy = RulesOf("prefix_rule(['/usr/bin/a'])\nprefix_rule(['b'])\nprefix_rule(['c'], 'prompt')");
  EXPECT_EQ(JudgeLine(policy, "/usr/./bin//a", "a", kResolvedPath).action, Action::kEscalate);
  EXPECT_EQ(JudgeLine(policy, "/usr/bin/../bin/a", "a", kResolvedPath).action, Action::kRun);
  EXPECT_EQ(JudgeLine(policy, "/usr/bin/../bin/b", "b", kResolvedPath).action, Action::kRun);
  EXPECT_EQ(JudgeLine(policy, "/usr/bin/../bin/c", "c", kResolvedPath).action, Action::kRun);
  EXPECT_TRUE(JudgeLine(policy, "/usr/bin/../bin/c", "c", kResolvedPath).asks);
}

TEST(JudgeTest, EachPathOfAFileIsJudgedAndTheStricterJudgementCounts) {
  const Policy policy = RulesOf(
      "prefix_rule(['/usr/bin/no'], 'forbidden')\nprefix_rule(['/usr/bin/ask'], 'prompt', justification='Why?')\n"
      "prefix_rule(['/usr/bin/yes'])\nprefix_rule(['link'])\nprefix_rule(['base'], 'forbidden')\n"
      "prefix_rule(['git', 'push'], 'forbidden')");
  struct Case {
    std::string_view file, line;
    std::vector<std::string> other_paths;
    Judgement expected;
  };
  const Case cases[] = {
      {"/bin/link", "link", {"/usr/bin/link"}, {.action = Action::kEscalate}},
      {"/bin/link", "link", {"/usr/bin/no"}, {.action = Action::kDeny}},
      {"/bin/link", "link", {"/usr/bin/ask"}, {.action = Action::kEscalate, .asks = true}},
      {"/bin/link", "link", {"/usr/bin/yes"}, {.action = Action::kEscalate}},
      {"/bin/link", "link", {"/usr/bin/other"}, {.action = Action::kEscalate}},
      {"/bin/link", "link", {"/usr/bin/other", "/usr/bin/no"}, {.action = Action::kDeny}},
      {"/work/x", "x", {"/usr/bin/no"}, {.action = Action::kDeny}},
      {"/work/x", "x", {"/usr/bin/ask"}, {.asks = true}},
      {"/work/x", "x", {"/usr/bin/yes"}, {}},
      {"/work/x", "x", {"/usr/bin/base"}, {.action = Action::kDeny}},
      {"/work/x", "no", {"/usr/bin/busybox"}, {.action = Action::kDeny}},
      {"/usr/lib/git-core/git-push", "git-push", {"/usr/bin/git"}, {.action = Action::kDeny}},
      {"/usr/bin/ask", "ask", {"/usr/bin/no"}, {.action = Action::kDeny}},
      // The list of dangerous commands goes by the name of the call: all programs of busybox are one file.
      {"/bin/echo", "echo rm -rf x", {"/bin/busybox"}, {}},
  };
  for (const Case& one : cases) {
    const std::vector<std::string> argv = WordsOf(one.line);
    const ExecAttempt attempt{.file = one.file, .argv = argv, .cwd = "/work", .other_paths = one.other_paths};
    const Judgement judgement = Judge(policy, attempt, kResolvedPath);
    EXPECT_EQ(judgement.action, one.expected.action) << one.file << " is " << one.other_paths.back();
    EXPECT_EQ(judgement.asks, one.expected.asks) << one.file << " is " << one.other_paths.back();
  }
}

TEST(JudgeTest, AQuestionNamesTheFileThatItIsAbout) {
  const Policy policy = RulesOf("prefix_rule(['/usr/bin/git'], 'prompt', justification='Why?')");
  const std::vector<std::string> argv = {"x"}, paths = {"/usr/bin/git"};
  EXPECT_EQ(Judge(policy, {.file = "/work/x", .argv = argv, .other_paths = paths}, kResolvedPath).reason,
            "Why? The program is the file \"/usr/bin/git\".");
}

TEST(JudgeTest, EachPathOfAnInterpreterIsJudged) {
  const Policy policy = RulesOf("prefix_rule(['/usr/bin/gawk'], 'forbidden')");
  const std::vector<std::string> argv = {"x"}, interpreter = {"/usr/bin/./awk", "-f"}, gawk = {"/usr/bin/gawk"};
  ExecAttempt attempt{.file = "/work/x", .argv = argv, .cwd = "/work", .interpreter = interpreter};
  EXPECT_EQ(Judge(policy, attempt, kResolvedPath).action, Action::kRun);
  attempt.interpreter_paths = gawk;
  EXPECT_EQ(Judge(policy, attempt, kResolvedPath).action, Action::kDeny);
}

TEST(JudgeTest, AProgramThatHostExecutableDoesNotListIsNotTakenOutByItsBaseName) {
  const Policy policy = RulesOf("prefix_rule(['git'])\nhost_executable('git', ['/usr/bin/git'])");
  EXPECT_EQ(JudgeLine(policy, "/usr/bin/git", "git").action, Action::kEscalate);
  EXPECT_EQ(JudgeLine(policy, "/opt/git", "git").action, Action::kRun);
}

// What the command changes in such a directory would be changed in another one.
TEST(JudgeTest, NothingLeavesADirectoryThatIsAnotherOneOutside) {
  const Policy policy = RulesOf("prefix_rule(['a'])\nprefix_rule(['/bin/b'])\nprefix_rule(['c'], 'prompt')");
  for (const std::string file : {"/bin/a", "/bin/b", "/bin/c"}) {
    const std::vector<std::string> argv = {file};
    const ExecAttempt attempt = {.file = file, .argv = argv, .cwd = "/", .directory = WorkingDirectory::kElsewhere};
    EXPECT_EQ(Judge(policy, attempt, kResolvedPath).action, Action::kRun) << file;
    EXPECT_EQ(Judge(policy, attempt, kResolvedPath).asks, file == "/bin/c");
  }
}

TEST(JudgeTest, TheRulesThatDecideListTheVariables) {
  const Policy policy = RulesOf(
      "prefix_rule(['git'], env=['A'])\nprefix_rule(['git', 'log'], env=['B'])\n"
      "prefix_rule(['git', 'push'], 'prompt', env=['C'])");
  EXPECT_THAT(JudgeLine(policy, "/usr/bin/git", "git log").variables, ElementsAre("A", "B"));
  EXPECT_THAT(JudgeLine(policy, "/usr/bin/git", "git push").variables, ElementsAre("C"));
  EXPECT_THAT(JudgeLine(policy, "/usr/bin/id", "id").variables, IsEmpty());
}

TEST(JudgeTest, OfTwoNamesOnlyTheVariablesThatBothMayHaveCount) {
  const Policy policy = RulesOf("prefix_rule(['git'], env=['A', 'B'])\nprefix_rule(['hub'], env=['B', 'C'])");
  const Judgement judgement = JudgeLine(policy, "/usr/bin/git", "hub log");
  EXPECT_EQ(judgement.action, Action::kEscalate);
  EXPECT_THAT(judgement.variables, ElementsAre("B"));
}

TEST(JudgeTest, ARuleAboutTheInterpreterListsNoVariablesOfTheScript) {
  const Policy policy = RulesOf("prefix_rule(['s'], env=['A'])\nprefix_rule(['awk'], 'prompt', env=['B'])");
  const std::vector<std::string> argv = {"s"}, interpreter = {"/usr/bin/awk"};
  const Judgement judgement =
      Judge(policy, {.file = "/bin/s", .argv = argv, .cwd = "/", .interpreter = interpreter}, kBaseName);
  EXPECT_TRUE(judgement.asks);
  EXPECT_THAT(judgement.variables, ElementsAre("A"));
}

}  // namespace
}  // namespace holdfast::exec_policy
