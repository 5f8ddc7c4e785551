// A rule as prefix_rule defines it, and the text in which it can be written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec_policy/decision.h"
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

}  // namespace holdfast::exec_policy
