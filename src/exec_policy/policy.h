// A policy is the set of all rules that were read from .rules files (docs/RULES.md). It decides about commands and
// never about files or descriptors: it is a value without any I/O, and any thread may evaluate it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_policy/evaluation.h"
#include "exec_policy/host_executables.h"
#include "exec_policy/network_hosts.h"
#include "starlark/budget.h"

namespace holdfast::exec_policy {

// The text of one rules file, and the name under which errors speak of it.
struct RulesText {
  std::string name, text;
};

class Policy {
 public:
  Policy();  // without rules
  ~Policy();
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;

  // Runs the files in their order and returns all their rules. The error of a bad file has the file's name, the line
  // and the column, and the line itself with a caret. All files share the steps and the memory of
  // the limits.
  static Result<Policy> Parse(std::span<const RulesText> files, const starlark::Limits& limits = {});

  // Evaluates a command, whose first word is the program. With `resolve`, a program that no rule names as it is written
  // is made absolute. It is looked up by that path, unless it is a bare name, and then by its base name if
  // host_executable allows the path.
  Evaluation Evaluate(std::span<const std::string> command, const std::optional<Places>& resolve = {}) const;

  // Returns what host_executable says about the program at an absolute path without `.` and `..`.
  HostExecutables::Listing ListingOf(std::string_view path) const;

  const NetworkHosts& network_hosts() const;
  size_t rule_count() const;

 private:
  struct Rules;
  explicit Policy(std::unique_ptr<Rules> rules);

  std::unique_ptr<Rules> rules_;
};

}  // namespace holdfast::exec_policy
