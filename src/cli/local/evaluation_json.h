// The evaluation of a policy as the JSON that `codex execpolicy check` prints.
#pragma once

#include <string>

#include "exec_policy/evaluation.h"

namespace holdfast::cli {

// Returns one line without its end.
std::string EvaluationJson(const exec_policy::Evaluation& evaluation);

// Returns JSON without blanks on several lines, with two spaces for each level.
std::string Indented(const std::string& json);

}  // namespace holdfast::cli
