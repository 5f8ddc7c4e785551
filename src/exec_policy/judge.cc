#include "exec_policy/judge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log_escape.h"
#include "base/paths.h"
#include "base/shown_text.h"
#include "exec_policy/dangerous.h"
#include "exec_policy/denial_text.h"
#include "exec_policy/explain.h"
#include "exec_policy/program_path.h"
#include "exec_policy/rule.h"

namespace holdfast::exec_policy {
namespace {

constexpr std::string_view kAsked = "A rule asks for approval of this command.";
constexpr std::string_view kDangerous = "The command may destroy things that are hard to get back.";

using Command = std::vector<std::string>;

// Returns the name by which the program is called.
std::string_view CalledName(const ExecAttempt& attempt) {
  std::string_view name = NameOf(attempt.argv.empty() ? attempt.file : attempt.argv.front());
  if (name.starts_with('-')) name.remove_prefix(1);
  return name;
}

bool HasOtherName(const ExecAttempt& attempt) {
  return !attempt.argv.empty() && CalledName(attempt) != NameOf(attempt.file);
}

// Returns the path or the base name of the file, as the rules are compared with it.
std::string ProgramOf(const ExecAttempt& attempt, ProgramNames names) {
  std::string path = Folded(attempt.file);
  return names == ProgramNames::kBaseName ? std::string(NameOf(path)) : path;
}

Command WithArguments(const ExecAttempt& attempt, std::string program) {
  Command command = {std::move(program)};
  if (!attempt.argv.empty()) command.insert(command.end(), attempt.argv.begin() + 1, attempt.argv.end());
  return command;
}

Command CommandOf(const ExecAttempt& attempt, ProgramNames names) {
  return WithArguments(attempt, ProgramOf(attempt, names));
}

// Returns the command as that of a program beside the file, with the name by which the program is called.
Command CommandByName(const ExecAttempt& attempt, ProgramNames names) {
  const std::string name(CalledName(attempt));
  if (names == ProgramNames::kBaseName) return WithArguments(attempt, name);
  return WithArguments(attempt, Folded(fmt::format("{}/{}", ParentOf(Folded(attempt.file)), name)));
}

// Returns the command that git makes of a name such as git-push: the rest of the name is its first argument.
std::optional<Command> CommandInName(const ExecAttempt& attempt, ProgramNames names) {
  const std::string start = fmt::format("{}-", NameOf(attempt.file));
  const std::string_view name = CalledName(attempt);
  if (!name.starts_with(start)) return std::nullopt;
  Command command = CommandOf(attempt, names);
  command.insert(command.begin() + 1, std::string(name.substr(start.size())));
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

// Returns whether a rule that names only the base name of the program may take it out: it means a program of the
// system, unless host_executable says where the program is.
bool IsProgramOfHost(const Policy& policy, const ExecAttempt& attempt) {
  using Listing = HostExecutables::Listing;
  const Listing listing = policy.ListingOf(Folded(attempt.file));
  if (attempt.program_file == ProgramFile::kOfSystem) return listing != Listing::kExcluded;
  return attempt.program_file == ProgramFile::kFixed && listing == Listing::kListed;
}

// Returns whether a rule may take the program out of the sandbox. A rule that names the whole path means the file that
// this path leads to outside.
bool MayLeave(const Policy& policy, const ExecAttempt& attempt, const RuleMatch& match) {
  if (attempt.directory == WorkingDirectory::kElsewhere || GoesUp(attempt.file)) return false;
  return match.matched_prefix.front().contains('/') || IsProgramOfHost(policy, attempt);
}

// Returns the variables that the deciding rules list.
std::vector<std::string> VariablesOf(const Evaluation& evaluation) {
  std::vector<std::string> variables;
  for (const RuleMatch& match : evaluation.matches) {
    if (match.decision != evaluation.decision) continue;
    variables.insert(variables.end(), match.variables.begin(), match.variables.end());
  }
  return variables;
}

// Returns nothing if no rule matches.
std::optional<Judgement> JudgeByRules(const Policy& policy, const ExecAttempt& attempt, ProgramNames names,
                                      const Command& command) {
  const Evaluation evaluation = Evaluate(policy, attempt, names, command);
  const RuleMatch* match = DecidingMatch(evaluation);
  if (match == nullptr) return std::nullopt;
  Judgement judgement{.rule = ShownExcerpt(RuleText(*match))};
  const auto reason_or = [match](std::string_view otherwise) {
    return match->justification ? ShownExcerpt(*match->justification) : std::string(otherwise);
  };
  if (match->decision == Decision::kForbidden) {
    judgement.action = Action::kDeny;
    judgement.reason = reason_or(kForbiddenByPolicy);
    return judgement;
  }
  judgement.action = MayLeave(policy, attempt, *match) ? Action::kEscalate : Action::kRun;
  judgement.variables = VariablesOf(evaluation);
  if (match->decision == Decision::kPrompt) {
    judgement.asks = true;
    judgement.reason = reason_or(kAsked);
  }
  return judgement;
}

int StrictnessOf(const Judgement& judgement) {
  if (judgement.action == Action::kDeny) return 3;
  if (judgement.asks) return 2;
  return judgement.action == Action::kRun ? 1 : 0;
}

bool Lists(const Judgement& judgement, const std::string& variable) {
  return std::ranges::find(judgement.variables, variable) != judgement.variables.end();
}

Judgement Stricter(const Judgement& one, const Judgement& other) {
  Judgement stricter = StrictnessOf(other) > StrictnessOf(one) ? other : one;
  const bool both_leave = one.action == Action::kEscalate && other.action == Action::kEscalate;
  if (stricter.action == Action::kEscalate && !both_leave) stricter.action = Action::kRun;
  std::erase_if(stricter.variables, [&](const std::string& name) { return !Lists(one, name) || !Lists(other, name); });
  return stricter;
}

// The text comes from the process that is judged, so it is quoted, and cut if it is long.
std::string Remark(std::string_view what, std::string_view text) {
  std::string remark(what);
  AppendQuoted(remark, text);
  return remark += '.';
}

// Returns the commands that the attempt makes if its program is the file.
std::vector<Command> CommandsOf(const ExecAttempt& attempt, ProgramNames names) {
  std::vector<Command> commands = {CommandOf(attempt, names)};
  if (!HasOtherName(attempt)) return commands;
  commands.push_back(CommandByName(attempt, names));
  if (auto command = CommandInName(attempt, names)) commands.push_back(*std::move(command));
  return commands;
}

Judgement JudgeCalledPath(const Policy& policy, const ExecAttempt& attempt, ProgramNames names) {
  std::optional<Judgement> judgement;
  for (const Command& command : CommandsOf(attempt, names)) {
    const auto by_rules = JudgeByRules(policy, attempt, names, command);
    const Judgement one = by_rules ? *by_rules : JudgeWithoutRule(command);
    judgement = judgement ? Stricter(*judgement, one) : one;
  }
  if (judgement->asks && HasOtherName(attempt)) {
    judgement->reason += Remark(" The program is called by another name: argv[0] is ", attempt.argv.front());
  }
  return *judgement;
}

Judgement JudgeProgram(const Policy& policy, const ExecAttempt& attempt, ProgramNames names) {
  Judgement judgement = JudgeCalledPath(policy, attempt, names);
  for (const std::string& path : attempt.other_paths) {
    ExecAttempt by_path = attempt;
    by_path.file = path;
    for (const Command& command : CommandsOf(by_path, names)) {
      auto by_rules = JudgeByRules(policy, by_path, names, command);
      if (!by_rules || StrictnessOf(*by_rules) <= StrictnessOf({})) continue;
      if (by_rules->asks) by_rules->reason += Remark(" The program is the file ", path);
      judgement = Stricter(judgement, *by_rules);
    }
  }
  return judgement;
}

Judgement JudgeInterpreter(const Policy& policy, const ExecAttempt& attempt, ProgramNames names) {
  const std::string& name = attempt.interpreter.front();
  const std::string file = name.starts_with('/') ? name : fmt::format("{}/{}", attempt.cwd, name);
  Command argv(attempt.interpreter.begin(), attempt.interpreter.end());
  argv.emplace_back(attempt.file);
  if (!attempt.argv.empty()) argv.insert(argv.end(), attempt.argv.begin() + 1, attempt.argv.end());
  return JudgeProgram(
      policy, {.file = file, .argv = argv, .cwd = attempt.cwd, .other_paths = attempt.interpreter_paths}, names);
}

}  // namespace

Judgement Judge(const Policy& policy, const ExecAttempt& attempt, ProgramNames names) {
  Judgement judgement = JudgeProgram(policy, attempt, names);
  if (attempt.interpreter.empty() || judgement.action == Action::kDeny) return judgement;
  Judgement interpreter = JudgeInterpreter(policy, attempt, names);
  if (interpreter.action == Action::kDeny) return interpreter;
  if (!interpreter.asks || judgement.asks) return judgement;
  interpreter.action = judgement.action;
  interpreter.variables = judgement.variables;
  return interpreter;
}

}  // namespace holdfast::exec_policy
