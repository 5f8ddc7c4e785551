#include "exec_policy/rule.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_policy/rules_of.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::SizeIs;

// Random rules and commands of a few short words, so that many of them match.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  std::string Word() { return kWords[Below(kWords.size())]; }

  std::vector<std::string> Words(size_t least, size_t most) {
    std::vector<std::string> words(least + Below(most - least + 1));
    std::ranges::generate(words, [this] { return Word(); });
    return words;
  }

  Rule AnyRule(int number) {
    Rule rule{.program = Word(), .decision = Decision(Below(3)), .origin = {.file = "random", .line = number}};
    for (size_t i = Below(4); i > 0; --i) rule.arguments.push_back(Words(1, 3));
    return rule;
  }

 private:
  static inline const std::vector<std::string> kWords = {"a", "b", "c", "", "aa", "-a"};
  std::mt19937 random_;
};

// The definition of a match, in the plainest form.
bool PlainlyMatches(const Rule& rule, const std::vector<std::string>& command) {
  if (command[0] != rule.program || command.size() < 1 + rule.arguments.size()) return false;
  size_t at = 1;
  for (const auto& alternatives : rule.arguments) {
    if (std::ranges::count(alternatives, command[at++]) == 0) return false;
  }
  return true;
}

TEST(RuleIndexTest, FindsTheRulesThatAPlainSearchFinds) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    std::vector<Rule> rules;
    for (int i = 0; i < 60; ++i) rules.push_back(dice.AnyRule(i));
    const RuleIndex index(rules);
    for (int i = 0; i < 50; ++i) {
      const std::vector<std::string> command = dice.Words(1, 5);
      std::vector<Rule> expected, found;
      std::ranges::copy_if(rules, std::back_inserter(expected),
                           [&](const Rule& rule) { return PlainlyMatches(rule, command); });
      for (const Rule* rule : index.Find(command[0], std::span(command).subspan(1))) found.push_back(*rule);
      ASSERT_EQ(found, expected) << "seed " << seed << ": " << testing::PrintToString(command);
    }
  }
}

TEST(RuleIndexTest, StaysValidWhenItIsMoved) {
  RuleIndex index({Rule{.program = "a", .arguments = {{"b"}}}});
  const RuleIndex moved = std::move(index);
  const std::vector<std::string> arguments = {"b"};
  EXPECT_THAT(moved.Find("a", arguments), SizeIs(1));
}

// The same rules as text, through the interpreter and the policy, with random host executables.
class PolicyPropertyTest : public testing::TestWithParam<unsigned> {};

std::string TextOf(const Rule& rule) {
  const auto quoted = [](const std::string& word) { return "'" + word + "'"; };
  std::string text = "prefix_rule([" + quoted(rule.program);
  for (const auto& alternatives : rule.arguments) {
    text += ", [";
    for (const std::string& word : alternatives) text += quoted(word) + ",";
    text += "]";
  }
  return text + "], '" + std::string(WordOf(rule.decision)) + "')\n";
}

Evaluation PlainlyEvaluate(const std::vector<Rule>& rules, const std::vector<std::string>& command,
                           const std::optional<std::string>& path) {
  Evaluation evaluation;
  for (const Rule& rule : rules) {
    if (!PlainlyMatches(rule, command)) continue;
    RuleMatch match{
        .matched_prefix = command, .decision = rule.decision, .resolved_program = path, .origin = rule.origin};
    match.matched_prefix.resize(1 + rule.arguments.size());
    if (!evaluation.decision || *evaluation.decision < rule.decision) evaluation.decision = rule.decision;
    evaluation.matches.push_back(match);
  }
  return evaluation;
}

TEST_P(PolicyPropertyTest, EvaluatesAsAPlainSearchDoes) {
  Dice dice(GetParam());
  std::vector<Rule> rules;
  std::string text;
  for (int i = 1; i <= 40; ++i) {
    rules.push_back(dice.AnyRule(i));
    rules.back().origin.file = "test.rules";
    text += TextOf(rules.back());
  }
  text += "host_executable('b', ['/x/b'])\n";
  const Policy policy = RulesOf(text);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> command = dice.Words(1, 5);
    EXPECT_EQ(policy.Evaluate(command), PlainlyEvaluate(rules, command, std::nullopt));
    const std::string name = command[0], path = (dice.Below(2) == 0 ? "/x/" : "/y/") + name;
    const bool resolves = !name.empty() && (name != "b" || path == "/x/b");
    const Evaluation expected = resolves ? PlainlyEvaluate(rules, command, path) : Evaluation();
    command[0] = path;
    EXPECT_EQ(policy.Evaluate(command, Places{.cwd = "/", .home = "/"}), expected) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PolicyPropertyTest, testing::Range(0u, 20u));

}  // namespace
}  // namespace holdfast::exec_policy
