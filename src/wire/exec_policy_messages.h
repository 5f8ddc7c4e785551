// The supervision of a process by rules: a member of process/start, and the params and result of exec/approve, which
// the server sends to the client.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/field_types.h"

namespace holdfast::wire {

// The rules by which every execve of a process is judged. A member that is not understood is refused, because it could
// be a restriction.
struct ExecPolicy {
  std::vector<std::string> rules = {};  // the paths of rules files, in their order
  bool strict = false;                  // a program that may run is executed exactly as it was judged

  void Fields(auto& f) {
    if constexpr (requires { f.RefuseUnknown(); }) f.RefuseUnknown();
    f.Required("rules", rules);
    f.Optional("strict", strict);
  }
};

enum class ExecDecision { kRun, kEscalate, kDeny };
template <>
struct EnumNames<ExecDecision> {
  static constexpr std::array<std::pair<const char*, ExecDecision>, 3> kNames{
      {{"run", ExecDecision::kRun}, {"escalate", ExecDecision::kEscalate}, {"deny", ExecDecision::kDeny}}};
};

struct ExecApproveParams {
  std::string process_id;
  std::string file;                            // the program, as an absolute path
  std::vector<std::string> argv;               // as the program would get it
  std::string cwd, reason, rule;               // the reason and the rule may be empty
  StringMap env;                               // the variables that differ from those of the start, if it escalates
  ExecDecision proposed = ExecDecision::kRun;  // what the rules say if the command is approved

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("file", file);
    f.Required("argv", argv);
    f.Required("cwd", cwd);
    f.Required("reason", reason);
    f.Required("rule", rule);
    f.Optional("env", env);
    f.Required("proposed", proposed);
  }
};

struct ExecApproveResult {
  ExecDecision decision = ExecDecision::kDeny;
  std::optional<std::string> reason = {};  // of a denial; the command's standard error shows it

  void Fields(auto& f) {
    f.Required("decision", decision);
    f.Optional("reason", reason);
  }
};

}  // namespace holdfast::wire
