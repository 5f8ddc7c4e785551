#include "cli/runs/terminal_approver.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/text/table.h"
#include "wire/json_text.h"

namespace holdfast::cli {
namespace {

using wire::ExecDecision;

bool IsPlain(std::string_view word) {
  constexpr std::string_view marks = "_@%+=:,./-";
  return !word.empty() && std::ranges::all_of(word, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || marks.contains(c);
  });
}

std::string Quoted(const std::string& word) {
  if (IsPlain(word)) return word;
  std::string quoted;
  wire::AppendString(quoted, word);
  return Printable(quoted);
}

// The program's own path comes first: argv[0] may be any text.
std::string CommandText(const wire::ExecApproveParams& question) {
  std::string text = Quoted(question.file);
  for (size_t i = 1; i < question.argv.size(); ++i) text += ' ' + Quoted(question.argv[i]);
  return text;
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
  std::string text = fmt::format("\nholdfast: the command wants to run{}\n    {}\n  in {}\n",
                                 question.proposed == ExecDecision::kEscalate ? ", outside of the sandbox," : "",
                                 CommandText(question), Quoted(question.cwd));
  if (!question.reason.empty()) text += fmt::format("  {}\n", Printable(question.reason));
  if (!question.rule.empty()) text += fmt::format("  {}\n", Printable(question.rule));
  return text + "Allow it? [y/N] ";
}

client::Approver TerminalApprover(TerminalQuestions& questions) {
  return [&questions](wire::ExecApproveParams question) { return Approve(questions, std::move(question)); };
}

}  // namespace holdfast::cli
