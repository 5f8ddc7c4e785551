// Functions that read the arguments of prefix_rule() and its relatives. The message of an error names the argument. The
// copies that they make are charged to the budget.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/decision.h"
#include "starlark/budget.h"
#include "starlark/value.h"

namespace holdfast::exec_policy {

using WordLists = std::vector<std::vector<std::string>>;

Result<std::string_view> ReadString(std::string_view name, const starlark::Value& value);
Result<std::vector<std::string>> ReadStrings(starlark::Budget& budget, std::string_view name, const starlark::Value& value);

// Returns the alternatives for each position of a pattern. There is at least one position, and each has at least one
// alternative.
Result<WordLists> ReadPattern(starlark::Budget& budget, const starlark::Value& value);

// Returns the words of each example. Without a value there are no examples.
Result<WordLists> ReadExamples(starlark::Budget& budget, std::string_view name, const std::optional<starlark::Value>& value);

// Without a value, the decision is kAllow.
Result<Decision> ReadDecision(const std::optional<starlark::Value>& value);

Result<std::optional<std::string>> ReadJustification(const std::optional<starlark::Value>& value);

// Returns the names of variables. Without a value there are none.
Result<std::vector<std::string>> ReadVariables(starlark::Budget& budget, const std::optional<starlark::Value>& value);

}  // namespace holdfast::exec_policy
