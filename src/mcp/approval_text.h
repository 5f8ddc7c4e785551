// The texts of a question about a command: what the user reads before deciding.
#pragma once

#include <string>
#include <string_view>

#include "escalate/approver.h"

namespace holdfast::mcp {

// Returns a word as a shell would read it: as it is if that is unambiguous, else in single quotes. A word with bytes
// that a user could not see, or that could imitate other text, is written as $'...' with escapes.
std::string ShownWord(std::string_view word);

// Returns the question, such as "Allow agent to run `/usr/bin/git push` in `/home/u/p`?", with the reason of the rule
// on a further line. A very long command is cut, and the text says so.
std::string ApprovalMessage(const escalate::Question& question);

}  // namespace holdfast::mcp
