#include "cli/runs/terminal_approver.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/shown_text.h"

namespace holdfast::cli {
namespace {

using wire::ExecDecision;

// The program's own path comes first: argv[0] may be any text.
std::string CommandText(const wire::ExecApproveParams& question) {
  std::vector<std::string> words = {question.file};
  if (!question.argv.empty()) words.insert(words.end(), question.argv.begin() + 1, question.argv.end());
  return ShownCommand(words);
}

loop::Task<wire::ExecApproveResult> Approve(TerminalQuestions& questions, wire::ExecApproveParams question) {
  const Consent consent = co_await questions.Ask(QuestionText(question));
  if (consent == Consent::kYes) co_return wire::ExecApproveResult{.decision = question.proposed};
  const char* const reason =
      consent == Consent::kNo ? "User declined execution" : "holdfast run has no terminal to ask the user on";
  co_return wire::ExecApproveResult{.decision = ExecDecision::kDeny, .reason = reason};
}

}  // namespace

std::string QuestionText(const wire::ExecApproveParams& question) {
  std::string text = fmt::format("holdfast: the command wants to run{}\n    {}\n  in {}\n",
                                 question.proposed == ExecDecision::kEscalate ? ", outside of the sandbox," : "",
                                 CommandText(question), ShownWord(question.cwd));
  if (question.proposed == ExecDecision::kEscalate && !question.env.empty()) {
    text += fmt::format("  with {}\n", ShownVariables(question.env));
  }
  if (!question.reason.empty()) text += fmt::format("  {}\n", ShownText(question.reason));
  if (!question.rule.empty()) text += fmt::format("  {}\n", ShownText(question.rule));
  return text;
}

client::Approver TerminalApprover(TerminalQuestions& questions) {
  return [&questions](wire::ExecApproveParams question) { return Approve(questions, std::move(question)); };
}

}  // namespace holdfast::cli
