#include "exec_policy/rule.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "exec_policy/program_path.h"

namespace holdfast::exec_policy {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

bool MatchesArguments(const Rule& rule, std::span<const std::string> arguments) {
  if (arguments.size() < rule.arguments.size()) return false;
  for (size_t i = 0; i < rule.arguments.size(); ++i) {
    if (std::ranges::find(rule.arguments[i], arguments[i]) == rule.arguments[i].end()) return false;
  }
  return true;
}

RuleMatch MatchOf(const Rule& rule, std::span<const std::string> arguments) {
  RuleMatch match{.matched_prefix = {},
                  .decision = rule.decision,
                  .justification = rule.justification,
                  .variables = rule.variables,
                  .origin = rule.origin};
  match.matched_prefix.reserve(1 + rule.arguments.size());
  match.matched_prefix.push_back(rule.program);
  const auto words = arguments.first(rule.arguments.size());
  match.matched_prefix.insert(match.matched_prefix.end(), words.begin(), words.end());
  return match;
}

std::string RuleText(std::span<const std::string> prefix, Decision decision) {
  std::string text = "prefix_rule(pattern=[";
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (i > 0) text += ", ";
    AppendQuoted(text, prefix[i]);
  }
  text += fmt::format("], decision=\"{}\")", WordOf(decision));
  return text;
}

std::string RuleText(const RuleMatch& match) {
  return fmt::format("{} at {}:{}", RuleText(match.matched_prefix, match.decision), match.origin.file,
                     match.origin.line);
}

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
