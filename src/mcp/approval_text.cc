#include "mcp/approval_text.h"

#include <vector>

#include <fmt/format.h>

#include "base/shown_text.h"

namespace holdfast::mcp {
namespace {

// The program's own path comes first: argv[0] may be any text.
std::string CommandText(const escalate::Question& question) {
  std::vector<std::string> words = {question.file};
  if (!question.argv.empty()) words.insert(words.end(), question.argv.begin() + 1, question.argv.end());
  return ShownCommand(words);
}

}  // namespace

std::string ApprovalMessage(const escalate::Question& question) {
  std::string text = fmt::format("Allow agent to run `{}` in `{}`?", CommandText(question), ShownWord(question.cwd));
  if (question.when_approved == exec_policy::Action::kEscalate) {
    text += "\nIt will run outside of the sandbox.";
    if (!question.variables.empty()) text += fmt::format("\nIt will get `{}`.", ShownVariables(question.variables));
  }
  if (!question.reason.empty()) text += "\n" + ShownText(question.reason);
  return text;
}

}  // namespace holdfast::mcp
