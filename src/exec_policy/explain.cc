#include "exec_policy/explain.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shown_text.h"
#include "exec_policy/dangerous.h"
#include "exec_policy/rule.h"

namespace holdfast::exec_policy {
namespace {

std::string_view MeaningOf(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return "allow: the command runs, outside of the sandbox";
    case Decision::kPrompt:
      return "prompt: somebody has to approve the command, which then runs outside of the sandbox";
    case Decision::kForbidden:
      return "forbidden: the command does not run";
  }
  std::unreachable();
}

std::string WithoutMatch(std::span<const std::string> command) {
  if (!IsDangerous(command)) return "no rule: the command runs, inside of the sandbox\n";
  return "no rule: the command is on the list of dangerous commands; somebody has to approve it, and it then runs "
         "inside "
         "of the sandbox\n";
}

std::string Details(const RuleMatch& match) {
  std::string text = fmt::format("  {}\n", ShownExcerpt(RuleText(match)));
  if (match.justification) text += fmt::format("    justification: {}\n", ShownExcerpt(*match.justification));
  if (!match.variables.empty()) {
    text += fmt::format("    env: {}\n", ShownExcerpt(fmt::format("{}", fmt::join(match.variables, " "))));
  }
  if (match.resolved_program) {
    text += fmt::format("    the rule names the program by its base name, and the program is {}\n",
                        ShownExcerpt(*match.resolved_program));
  }
  return text;
}

std::string Relation(const RuleMatch& other, Decision decision) {
  if (other.decision == decision) return "has the same decision";
  return fmt::format("loses, because {} is stricter than {}", WordOf(decision), WordOf(other.decision));
}

}  // namespace

const RuleMatch* DecidingMatch(const Evaluation& evaluation) {
  const RuleMatch* deciding = nullptr;
  for (const RuleMatch& match : evaluation.matches) {
    if (match.decision != evaluation.decision) continue;
    if (deciding == nullptr || (!deciding->justification && match.justification)) deciding = &match;
  }
  return deciding;
}

std::string Explain(const Evaluation& evaluation, std::span<const std::string> command) {
  const RuleMatch* deciding = DecidingMatch(evaluation);
  if (deciding == nullptr) return WithoutMatch(command);
  std::string text = fmt::format("{}\ndecided by\n{}", MeaningOf(deciding->decision), Details(*deciding));
  for (const RuleMatch& match : evaluation.matches) {
    if (&match == deciding) continue;
    text += fmt::format("also matches, and {}\n{}", Relation(match, deciding->decision), Details(match));
  }
  return text;
}

}  // namespace holdfast::exec_policy
