// The reason of a decision, for people.
#pragma once

#include <span>
#include <string>

#include "exec_policy/evaluation.h"

namespace holdfast::exec_policy {

// Returns the match that decided: the first one with the strictest decision, but one with a justification before one
// without. Returns null if no rule matched.
const RuleMatch* DecidingMatch(const Evaluation& evaluation);

// Returns lines of text that say which rule decided about a command, where it was written and why it is there, and
// which other rules matched.
std::string Explain(const Evaluation& evaluation, std::span<const std::string> command);

}  // namespace holdfast::exec_policy
