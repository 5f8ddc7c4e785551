#include "exec_policy/rule_index.h"

#include <algorithm>
#include <utility>

#include "exec_policy/program_path.h"

namespace holdfast::exec_policy {

RuleIndex::RuleIndex(std::vector<Rule> rules) : rules_(std::move(rules)) {
  by_program_.reserve(rules_.size());
  for (uint32_t number = 0; number < rules_.size(); ++number) {
    const std::string& program = rules_[number].program;
    Add(number, program);
    if (!program.starts_with('/')) continue;
    if (std::string folded = Folded(program); folded != program) Add(number, folded_.emplace_back(std::move(folded)));
  }
}

void RuleIndex::Add(uint32_t number, std::string_view program) {
  const Rule& rule = rules_[number];
  ProgramRules& of_program = by_program_[program];
  if (rule.arguments.empty()) {
    of_program.without_arguments.push_back(number);
    return;
  }
  for (const std::string& word : rule.arguments.front()) {
    Numbers& numbers = of_program.by_first_argument[word];
    // A word that stands twice among the alternatives does not make the rule match twice.
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
}

std::vector<const Rule*> RuleIndex::Find(std::string_view program, std::span<const std::string> arguments) const {
  const auto of_program = by_program_.find(program);
  if (of_program == by_program_.end()) return {};
  std::vector<const Rule*> found;
  for (const uint32_t number : of_program->second.without_arguments) found.push_back(&rules_[number]);
  if (arguments.empty()) return found;
  const auto& by_first_argument = of_program->second.by_first_argument;
  const auto candidates = by_first_argument.find(arguments.front());
  if (candidates == by_first_argument.end()) return found;
  for (const uint32_t number : candidates->second) {
    if (MatchesArguments(rules_[number], arguments)) found.push_back(&rules_[number]);
  }
  std::ranges::sort(found);  // the order of the addresses is that of the definitions
  return found;
}

}  // namespace holdfast::exec_policy
