// The result of evaluating a policy for one command.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::exec_policy {

// The decision of a rule about a command.

// The order is that of strictness: of several decisions the last one here wins.
enum class Decision { kAllow, kPrompt, kForbidden };

// Returns the word that rules use: allow, prompt or forbidden.
std::string_view WordOf(Decision decision);

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
  std::vector<std::string> variables = {};  // the names of those that the program may take out of the sandbox
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

}  // namespace holdfast::exec_policy
