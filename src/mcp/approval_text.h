// The text of a question about a command, which the user reads before deciding.
#pragma once

#include <string>

#include "escalate/approver.h"

namespace holdfast::mcp {

// Returns the question, such as "Allow agent to run `/usr/bin/git push` in `/home/u/p`?". Further lines tell that the
// command will run outside of the sandbox, if it will, and the reason of the rule. A very long command is shortened,
// and the text says so.
std::string ApprovalMessage(const escalate::Question& question);

}  // namespace holdfast::mcp
