#include "exec_policy/policy.h"

#include <optional>
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
using ::testing::SizeIs;

using Words = std::vector<std::string>;

const Places kPlaces = {.cwd = "/work", .home = "/home/me"};

std::optional<Decision> DecisionOf(const Policy& policy, std::string_view line,
                                   const std::optional<Places>& places = {}) {
  return policy.Evaluate(WordsOf(line), places).decision;
}

TEST(PolicyTest, HasNoRulesAtFirst) {
  const Policy policy;
  EXPECT_EQ(policy.rule_count(), 0u);
  EXPECT_EQ(policy.Evaluate(Words{"ls"}), Evaluation());
  EXPECT_EQ(policy.ListingOf("/usr/bin/git"), HostExecutables::Listing::kNone);
}

TEST(PolicyTest, AnEmptyCommandMatchesNothing) {
  EXPECT_EQ(RulesOf("prefix_rule([''])").Evaluate(Words()), Evaluation());
  EXPECT_EQ(DecisionOf(RulesOf("prefix_rule([''])"), "''"), Decision::kAllow);
}

TEST(PolicyTest, ARuleMatchesCommandsThatBeginWithItsPattern) {
  const Policy policy = RulesOf(R"(prefix_rule(pattern=["git", "status"]))");
  EXPECT_EQ(DecisionOf(policy, "git status"), Decision::kAllow);
  EXPECT_EQ(DecisionOf(policy, "git status -s"), Decision::kAllow);
  EXPECT_EQ(DecisionOf(policy, "git"), std::nullopt);
  EXPECT_EQ(DecisionOf(policy, "git push"), std::nullopt);
  EXPECT_EQ(DecisionOf(policy, "git Status"), std::nullopt);
  EXPECT_EQ(DecisionOf(policy, "git status-x"), std::nullopt);
  EXPECT_EQ(DecisionOf(policy, "/usr/bin/git status"), std::nullopt);
}

TEST(PolicyTest, AMatchTellsAllAboutItsRule) {
  const Policy policy = RulesOf("\nprefix_rule(['rm', ['-r', '-f']], 'prompt', justification=' why ')\n");
  const Evaluation expected = {.matches = {{.matched_prefix = {"rm", "-f"},
                                            .decision = Decision::kPrompt,
                                            .justification = " why ",
                                            .origin = {.file = "test.rules", .line = 2}}},
                               .decision = Decision::kPrompt};
  EXPECT_EQ(policy.Evaluate(WordsOf("rm -f x")), expected);
}

TEST(PolicyTest, MatchesAreInTheOrderOfTheRules) {
  const Policy policy = RulesOfFiles({"prefix_rule(['a', 'b'])\nprefix_rule(['a'], 'prompt')\n",
                                      "prefix_rule(['a', 'b'], 'forbidden')\nprefix_rule(['a'])\n"});
  std::vector<std::string> origins;
  for (const RuleMatch& match : policy.Evaluate(WordsOf("a b c")).matches) {
    origins.push_back(match.origin.file + ":" + std::to_string(match.origin.line));
  }
  EXPECT_THAT(origins, ElementsAre("test.rules:1", "test.rules:2", "test2.rules:1", "test2.rules:2"));
}

TEST(PolicyTest, TheStrictestDecisionWins) {
  const Policy policy =
      RulesOf("prefix_rule(['a'], 'prompt')\nprefix_rule(['a'])\nprefix_rule(['a', 'b'], 'forbidden')");
  EXPECT_EQ(DecisionOf(policy, "a"), Decision::kPrompt);
  EXPECT_EQ(DecisionOf(policy, "a b"), Decision::kForbidden);
}

TEST(PolicyTest, AlternativesForTheProgramMakeARuleEach) {
  const Policy policy = RulesOf("prefix_rule([['npm', 'yarn', 'npm'], ['i', 'install', 'i']])");
  EXPECT_EQ(policy.rule_count(), 3u);
  EXPECT_THAT(policy.Evaluate(WordsOf("npm i")).matches, SizeIs(2));
  EXPECT_THAT(policy.Evaluate(WordsOf("yarn install x")).matches, SizeIs(1));
  EXPECT_THAT(policy.Evaluate(WordsOf("pnpm i")).matches, IsEmpty());
}

TEST(PolicyTest, AProgramIsLookedUpByItsBaseNameOnlyIfAsked) {
  const Policy policy = RulesOf("prefix_rule(['git'])");
  EXPECT_EQ(DecisionOf(policy, "/usr/bin/git"), std::nullopt);
  const Evaluation evaluation = policy.Evaluate(WordsOf("./git status"), kPlaces);
  ASSERT_THAT(evaluation.matches, SizeIs(1));
  EXPECT_EQ(evaluation.matches[0].resolved_program, "/work/git");
  EXPECT_THAT(evaluation.matches[0].matched_prefix, ElementsAre("git"));
}

TEST(PolicyTest, ARuleAboutThePathComesBeforeOnesAboutTheBaseName) {
  const Policy policy = RulesOf("prefix_rule(['/usr/bin/git', 'status'], 'prompt')\nprefix_rule(['git'], 'forbidden')");
  EXPECT_EQ(DecisionOf(policy, "/usr/bin/git status", kPlaces), Decision::kPrompt);
  EXPECT_EQ(DecisionOf(policy, "/usr/bin/git push", kPlaces), Decision::kForbidden);
}

// The path of the command and that of the rule may each be written in another way.
TEST(PolicyTest, ARuleAboutAPathIsFoundByEverySpellingOfThePath) {
  for (const char* written : {"/usr/bin/git", "//usr/bin/git", "/usr/lib/../bin/./git"}) {
    const Policy policy = RulesOf("prefix_rule(['" + std::string(written) + "'], 'forbidden')\nprefix_rule(['git'])");
    for (const char* called :
         {"/usr/bin/git", "//usr/bin/git", "/usr/./bin//git", "/bin/../usr/bin/git", "../usr/bin/git"}) {
      EXPECT_EQ(DecisionOf(policy, called, kPlaces), Decision::kForbidden) << written << " " << called;
    }
    EXPECT_EQ(DecisionOf(policy, "/opt/git", kPlaces), Decision::kAllow) << written;
  }
  EXPECT_EQ(DecisionOf(RulesOf("prefix_rule(['/work/git'], 'forbidden')"), "git", kPlaces), std::nullopt);
}

TEST(PolicyTest, HostExecutableRestrictsThePathsOfAName) {
  const Policy policy = RulesOfFiles({"prefix_rule(['git'])", "host_executable('git', ['/usr/bin/git'])"});
  EXPECT_EQ(DecisionOf(policy, "/usr/bin/git", kPlaces), Decision::kAllow);
  EXPECT_EQ(DecisionOf(policy, "/tmp/git", kPlaces), std::nullopt);
  EXPECT_EQ(DecisionOf(policy, "git", kPlaces), Decision::kAllow);
  EXPECT_EQ(policy.ListingOf("/tmp/git"), HostExecutables::Listing::kExcluded);
}

TEST(PolicyTest, KeepsTheHostsOfNetworkRules) {
  const Policy policy =
      RulesOfFiles({"network_rule('A.com:80', 'https', 'allow')\nnetwork_rule('b.com', 'http', 'allow')",
                    "network_rule('b.com', 'http', 'deny', justification='no')"});
  EXPECT_EQ(policy.network_hosts(), (NetworkHosts{.allowed = {"a.com"}, .denied = {"b.com"}}));
}

TEST(PolicyTest, FilesShareRulesAndNoVariables) {
  const std::vector<RulesText> files = {{"a.rules", "x = ['a']\n"}, {"b.rules", "prefix_rule(x)\n"}};
  const auto policy = Policy::Parse(files);
  ASSERT_FALSE(policy.has_value());
  EXPECT_THAT(policy.error().message, HasSubstr("b.rules:1:13"));
}

TEST(PolicyTest, AMistakeIsShownWithItsLineAndACaret) {
  const std::string mistake = MistakeIn("# first\nprefix_rule(['a'], decision='maybe')\n");
  EXPECT_THAT(mistake, HasSubstr("test.rules:2:1"));
  EXPECT_THAT(mistake, HasSubstr("the decision `maybe` is none of allow, prompt and forbidden"));
  EXPECT_THAT(mistake, HasSubstr("prefix_rule(['a'], decision='maybe')"));
  EXPECT_THAT(mistake, HasSubstr("^"));
}

struct BadCall {
  std::string text, reason;
};

TEST(PolicyTest, RefusesArgumentsThatMakeNoSense) {
  const std::vector<BadCall> calls = {
      {"prefix_rule([])", "pattern is empty"},
      {"prefix_rule(3)", "pattern must be a list, but is 3, of type int"},
      {"prefix_rule('git')", "pattern must be a list, but is \"git\", of type string"},
      {"prefix_rule(('git',))", "pattern must be a list"},
      {"prefix_rule([1])", "each element of pattern must be a string or a list of strings"},
      {"prefix_rule(['a', []])", "an empty list"},
      {"prefix_rule(['a', [['b']]])", "each item of each element of pattern must be a string"},
      {"prefix_rule(['a', ('b',)])", "each element of pattern"},
      {"prefix_rule(['a'], 'Allow')", "the decision `Allow`"},
      {"prefix_rule(['a'], None)", "decision must be a string"},
      {"prefix_rule(['a'], justification=' \\n')", "justification is blank"},
      {"prefix_rule(['a'], env='A')", "env must be a list"},
      {"prefix_rule(['a'], env=['A=1'])", "env has `A=1`, which is not the name of a variable"},
      {"prefix_rule(['a'], env=[''])", "env has ``, which is not the name of a variable"},
      {"prefix_rule(['a'], justification=None)", "justification must be a string"},
      {"prefix_rule(['a'], match='a')", "match must be a list"},
      {"prefix_rule(['a'], match=[1])", "each example of match must be a string or a list of strings"},
      {"prefix_rule(['a'], match=[''])", "each example of match has to have a word"},
      {"prefix_rule(['a'], not_match=[[]])", "each example of not_match has to have a word"},
      {"prefix_rule(['a'], match=['\"a'])", "has a quote that is not closed, or ends in a backslash"},
      {"prefix_rule(['a'], match=['a \\\\'])", "has a quote that is not closed, or ends in a backslash"},
      {"prefix_rule(['a'], match=None)", "match must be a list"},
      {"host_executable('a/b', [])", "bare name"},
      {"host_executable('a', ['a'])", "not absolute"},
      {"host_executable('a', '/a')", "paths must be a list"},
      {"network_rule('*', 'http', 'allow')", "wildcard"},
      {"network_rule('a', 'http', 'allow', '')", "justification is blank"},
      {"network_rule('a', 'http', 'ask')", "the decision `ask`"},
      {"network_rule('a', 'ftp', 'allow')", "https_connect, http-connect, socks5_tcp and socks5_udp"},
  };
  for (const BadCall& call : calls) EXPECT_THAT(MistakeIn(call.text), HasSubstr(call.reason)) << call.text;
}

TEST(PolicyTest, RefusesCallsWithWrongParameters) {
  for (const char* text : {"prefix_rule()", "prefix_rule(['a'], foo=1)", "prefix_rule(['a'], pattern=['a'])",
                           "network_rule('a', 'http')", "prefix_rule(['a'], 'allow', [], [], 'j', 1)"}) {
    EXPECT_NE(MistakeIn(text), "") << text;
  }
}

TEST(PolicyTest, ExamplesThatMatchHaveToMatch) {
  EXPECT_EQ(MistakeIn("prefix_rule(['ls', '-l'], match=['ls -l x', ['ls', '-l', 'a b']])"), "");
  const std::string mistake = MistakeIn("\nprefix_rule(['ls', '-l'], match=['ls -l', 'ls -a'])");
  EXPECT_THAT(mistake, HasSubstr("the rule does not match the example `ls -a` of match"));
  EXPECT_THAT(mistake, HasSubstr("test.rules:2:1"));
  EXPECT_THAT(MistakeIn("prefix_rule(['ls'], match=[['cat', 'a b', \"it's\"]])"),
              HasSubstr(R"(the example `cat 'a b' 'it'\''s'` of match)"));
}

TEST(PolicyTest, ExamplesThatDoNotMatchMustNotMatch) {
  EXPECT_EQ(MistakeIn("prefix_rule(['ls', '-l'], not_match=['ls', 'ls -a', 'cat -l'])"), "");
  EXPECT_THAT(MistakeIn("prefix_rule(['ls'], match=['cat'], not_match=['ls -a # all'])"),
              HasSubstr("the rule matches the example `ls -a` of not_match"));
}

TEST(PolicyTest, ExamplesAreComparedWithTheRulesOfTheirCallAlone) {
  EXPECT_EQ(MistakeIn("prefix_rule(['ls'])\nprefix_rule(['cat'], not_match=['ls'])"), "");
  EXPECT_NE(MistakeIn("prefix_rule(['ls'])\nprefix_rule(['cat'], match=['ls'])"), "");
  EXPECT_EQ(MistakeIn("prefix_rule([['a', 'b']], match=['a', 'b'], not_match=['c'])"), "");
}

TEST(PolicyTest, ExamplesKnowHostExecutablesOfTheWholeFile) {
  const std::string rule = "prefix_rule(['git'], match=['/usr/bin/git status'], not_match=['/opt/git'])\n";
  EXPECT_THAT(MistakeIn(rule), HasSubstr("/opt/git"));
  EXPECT_EQ(MistakeIn(rule + "host_executable('git', ['/usr/bin/git'])"), "");
  EXPECT_EQ(MistakeIn("host_executable('git', ['/git'])\nprefix_rule(['git'], not_match=['./git', '~/git'])"), "");
}

TEST(PolicyTest, RulesCanBeMadeInLoopsAndFunctions) {
  const Policy policy = RulesOf(
      "def forbid(name):\n"
      "    prefix_rule([name], 'forbidden')\n"
      "for x in ['a', 'b']:\n"
      "    forbid(x + 'c')\n"
      "[prefix_rule(['git', verb]) for verb in ['log', 'diff']]\n");
  EXPECT_EQ(policy.rule_count(), 4u);
  EXPECT_EQ(DecisionOf(policy, "bc"), Decision::kForbidden);
  EXPECT_EQ(DecisionOf(policy, "git diff x"), Decision::kAllow);
}

}  // namespace
}  // namespace holdfast::exec_policy
