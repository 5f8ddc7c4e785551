// The definitions that rules files make, collected while the files run. It binds prefix_rule(), host_executable() and
// network_rule() to the interpreter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/evaluation.h"
#include "exec_policy/host_executables.h"
#include "exec_policy/network_hosts.h"
#include "exec_policy/rule.h"
#include "starlark/budget.h"
#include "starlark/diagnostic.h"
#include "starlark/host_function.h"
#include "starlark/value.h"

namespace holdfast::exec_policy {

// Functions that read the arguments of prefix_rule() and its relatives. The message of an error names the argument. The
// copies that they make are charged to the budget.
using WordLists = std::vector<std::vector<std::string>>;

Result<std::string_view> ReadString(std::string_view name, const starlark::Value& value);
Result<std::vector<std::string>> ReadStrings(starlark::Budget& budget, std::string_view name,
                                             const starlark::Value& value);

// Returns the alternatives for each position of a pattern. There is at least one position, and each has at least one
// alternative.
Result<WordLists> ReadPattern(starlark::Budget& budget, const starlark::Value& value);

// Returns the words of each example. Without a value there are no examples.
Result<WordLists> ReadExamples(starlark::Budget& budget, std::string_view name,
                               const std::optional<starlark::Value>& value);

// Without a value, the decision is kAllow.
Result<Decision> ReadDecision(const std::optional<starlark::Value>& value);

Result<std::optional<std::string>> ReadJustification(const std::optional<starlark::Value>& value);

// Returns the names of variables. Without a value there are none.
Result<std::vector<std::string>> ReadVariables(starlark::Budget& budget, const std::optional<starlark::Value>& value);

class Definitions {
 public:
  // Runs a file, and then verifies the examples of its rules: host_executable() may stand behind the rules. Variables
  // of one file are not visible in the next.
  Result<> RunFile(const starlark::Source& source, starlark::Budget& budget);

  std::vector<Rule> rules;
  HostExecutables host_executables;
  std::vector<NetworkRule> network_rules;

 private:
  // The examples of one call of prefix_rule(), which are verified against the rules of that call alone.
  struct Examples {
    size_t first_rule, rule_count;
    size_t steps;  // the work of comparing one example with these rules
    WordLists match, not_match;
    starlark::Position position;
  };

  Result<> DefinePrefixRule(const starlark::Source& source, const starlark::HostCall& call);
  Result<> DefineHostExecutable(const starlark::HostCall& call);
  Result<> DefineNetworkRule(const starlark::HostCall& call);
  std::vector<starlark::HostFunction> HostFunctions(const starlark::Source& source);

  Result<> Verify(const Examples& examples, starlark::Budget& budget) const;
  Result<bool> IsMatch(const Examples& examples, const std::vector<std::string>& command,
                       starlark::Budget& budget) const;

  std::vector<Examples> examples_;  // of the file that runs
};

}  // namespace holdfast::exec_policy
