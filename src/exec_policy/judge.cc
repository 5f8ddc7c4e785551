#include "exec_policy/judge.h"

#include <algorithm>

#include "base/paths.h"
#include "base/printable.h"
#include "exec_policy/dangerous.h"
#include "exec_policy/explain.h"
#include "exec_policy/rule.h"

namespace holdfast::exec_policy {
namespace {

constexpr std::string_view kForbidden = "Execution forbidden by policy";
constexpr std::string_view kAsked = "A rule asks for approval of this command.";
constexpr std::string_view kDangerous = "The command may destroy things that are hard to get back.";

std::vector<std::string> CommandOf(const ExecAttempt& attempt, ProgramNames names) {
  const bool by_base_name = names == ProgramNames::kBaseName;
  std::vector<std::string> command = {std::string(by_base_name ? NameOf(attempt.file) : attempt.file)};
  if (!attempt.argv.empty()) command.insert(command.end(), attempt.argv.begin() + 1, attempt.argv.end());
  return command;
}

Evaluation Evaluate(const Policy& policy, const ExecAttempt& attempt, ProgramNames names,
                    std::span<const std::string> command) {
  if (names != ProgramNames::kResolvedPath) return policy.Evaluate(command);
  return policy.Evaluate(command, Places{.cwd = std::string(attempt.cwd)});
}

Judgement JudgeWithoutRule(std::span<const std::string> command) {
  if (!IsDangerous(command)) return {};
  return {.action = Action::kRun, .asks = true, .reason = std::string(kDangerous)};
}

// Returns whether a rule may take the program out of the sandbox. A rule that names the whole path means the file that
// this path leads to outside. A rule that names only the base name means a program of the host.
bool MayLeave(const Policy& policy, const ExecAttempt& attempt, const RuleMatch& match) {
  if (match.matched_prefix.front().contains('/')) return true;
  return attempt.program_file == ProgramFile::kFixed && policy.IsHostExecutable(attempt.file);
}

}  // namespace

Judgement Judge(const Policy& policy, const ExecAttempt& attempt, ProgramNames names) {
  const std::vector<std::string> command = CommandOf(attempt, names);
  const Evaluation evaluation = Evaluate(policy, attempt, names, command);
  const RuleMatch* match = DecidingMatch(evaluation);
  if (match == nullptr) return JudgeWithoutRule(command);
  Judgement judgement{.rule = PrintableExcerpt(RuleText(*match))};
  const auto reason_or = [match](std::string_view otherwise) {
    return match->justification ? PrintableExcerpt(*match->justification) : std::string(otherwise);
  };
  if (match->decision == Decision::kForbidden) {
    judgement.action = Action::kDeny;
    judgement.reason = reason_or(kForbidden);
    return judgement;
  }
  judgement.action = MayLeave(policy, attempt, *match) ? Action::kEscalate : Action::kRun;
  if (match->decision == Decision::kPrompt) {
    judgement.asks = true;
    judgement.reason = reason_or(kAsked);
  }
  return judgement;
}

}  // namespace holdfast::exec_policy
