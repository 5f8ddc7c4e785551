// The answers of `holdfast run` and `holdfast attach` to the server's questions about commands: the user gives them on
// the terminal. Without a terminal every command is denied.
#pragma once

#include <string>

#include "cli/runs/terminal_questions.h"
#include "client/connect_options.h"
#include "wire/exec_policy_messages.h"

namespace holdfast::cli {

// Returns an approver that asks by `questions`, which outlives it.
client::Approver TerminalApprover(TerminalQuestions& questions);

// Returns the question as the user sees it. Words that could be mistaken for something else are quoted, as
// in a shell.
std::string QuestionText(const wire::ExecApproveParams& question);

}  // namespace holdfast::cli
