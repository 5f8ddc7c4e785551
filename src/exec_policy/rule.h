// A rule as prefix_rule defines it, and the text in which it can be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec_policy/evaluation.h"

namespace holdfast::exec_policy {

// A rule about one program. A pattern with several alternatives for the program makes one rule for each.
struct Rule {
  std::string program;
  // For each further position, the words of which one has to stand there.
  std::vector<std::vector<std::string>> arguments = {};
  Decision decision = Decision::kAllow;
  std::optional<std::string> justification = {};
  std::vector<std::string> variables = {};  // the names of those that the program may take out of the sandbox
  Origin origin = {};

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Returns whether the words of a command behind its program begin as the rule says.
bool MatchesArguments(const Rule& rule, std::span<const std::string> arguments);

// Returns the match of a rule with a command whose arguments it matches.
RuleMatch MatchOf(const Rule& rule, std::span<const std::string> arguments);

// Returns a rule as a line of a rules file: prefix_rule(pattern=["git", "push"], decision="prompt").
std::string RuleText(std::span<const std::string> prefix, Decision decision);

// Returns the rule of a match with the place where it was written: `prefix_rule(...) at FILE:LINE`.
std::string RuleText(const RuleMatch& match);

// An index of rules by their first two words. The time of a lookup depends on the rules that begin like the command,
// and not on the number of all rules.
class RuleIndex {
 public:
  RuleIndex() = default;
  explicit RuleIndex(std::vector<Rule> rules);
  // The keys of the index are views of the rules, so a copy would refer to the original.
  RuleIndex(const RuleIndex&) = delete;
  RuleIndex& operator=(const RuleIndex&) = delete;
  RuleIndex(RuleIndex&&) noexcept = default;
  RuleIndex& operator=(RuleIndex&&) noexcept = default;

  // Returns the rules that match, in the order in which they were defined. A rule about a path is found by that path as
  // it is written, and without `.`, `..` and empty components.
  std::vector<const Rule*> Find(std::string_view program, std::span<const std::string> arguments) const;

  size_t size() const { return rules_.size(); }

 private:
  using Numbers = std::vector<uint32_t>;  // places in `rules_`, in rising order

  struct ProgramRules {
    Numbers without_arguments;
    std::unordered_map<std::string_view, Numbers> by_first_argument;
  };

  void Add(uint32_t number, std::string_view program);

  std::vector<Rule> rules_;
  std::deque<std::string> folded_;  // the programs of rules that write them with `.`, `..` or empty components
  std::unordered_map<std::string_view, ProgramRules> by_program_;
};

}  // namespace holdfast::exec_policy
