// Functions that read the arguments of prefix_rule() and its relatives. The message of an error names the argument. The
// copies that they make are charged to the budget.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/decision.h"
#include "exec_policy/starlark/budget.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

using WordLists = std::vector<std::vector<std::string>>;

Result<std::string_view> ReadString(std::string_view name, const Value& value);
Result<std::vector<std::string>> ReadStrings(Budget& budget, std::string_view name, const Value& value);

// Returns the alternatives for each position of a pattern. There is at least one position, and each has at least one
// alternative.
Result<WordLists> ReadPattern(Budget& budget, const Value& value);

// Returns the words of each example. Without a value there are no examples.
Result<WordLists> ReadExamples(Budget& budget, std::string_view name, const std::optional<Value>& value);

// Without a value, the decision is kAllow.
Result<Decision> ReadDecision(const std::optional<Value>& value);

Result<std::optional<std::string>> ReadJustification(const std::optional<Value>& value);

// Returns the names of variables. Without a value there are none.
Result<std::vector<std::string>> ReadVariables(Budget& budget, const std::optional<Value>& value);

}  // namespace holdfast::exec_policy
