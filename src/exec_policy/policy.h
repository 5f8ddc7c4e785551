// A policy is the set of all rules that were read from .rules files (docs/RULES.md). It decides about commands and
// never about files or descriptors: it is a value without any I/O, and any thread may evaluate it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec_policy/decision.h"

namespace holdfast::exec_policy {

// The place where a rule was written.
struct Origin {
  std::string file = {};
  int line = 0;

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct RuleMatch {
  std::vector<std::string> matched_prefix;
  Decision decision = Decision::kAllow;
  // The absolute path of the program, if the rule names the program by its base name and host_executable allowed it.
  std::optional<std::string> resolved_program = {};
  std::optional<std::string> justification = {};
  Origin origin = {};

  friend bool operator==(const RuleMatch&, const RuleMatch&) = default;
};

struct Evaluation {
  std::vector<RuleMatch> matches = {};    // in the order of the rules
  std::optional<Decision> decision = {};  // the strictest decision of the matches; absent without a match

  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

// The directories against which a program that is not absolute is resolved.
struct Places {
  std::string cwd = {}, home = {};
};

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
  // and the column, and the line itself with a caret.
  static Result<Policy> Parse(std::span<const RulesText> files);

  // Evaluates a command, whose first word is the program. With `resolve`, a program that no rule names as it is written
  // is made absolute, and is looked up by its base name if host_executable allows its path.
  Evaluation Evaluate(std::span<const std::string> command, const std::optional<Places>& resolve = {}) const;

  size_t rule_count() const;

 private:
  struct Rules;
  explicit Policy(std::unique_ptr<Rules> rules);

  std::unique_ptr<Rules> rules_;
};

}  // namespace holdfast::exec_policy
