// The Approver decides about an execve that the rules leave to a person. The MCP server asks its client by an
// elicitation, and the exec-server by exec/approve.
#pragma once

#include <string>
#include <vector>

#include "exec_policy/judge.h"
#include "loop/task.h"
#include "process/command/environment.h"

namespace holdfast::escalate {

struct Question {
  std::string file;               // absolute
  std::vector<std::string> argv;  // includes argv[0]; bytes, not necessarily UTF-8
  std::string cwd;
  // Outside of the sandbox, these variables get other values than the supervised command was started with.
  process::Environment variables = {};
  std::string reason = {};  // why the rules ask, if they say so
  std::string rule = {};    // the rule that asks; empty if no rule does
  exec_policy::Action when_approved = exec_policy::Action::kRun;
};

struct Answer {
  exec_policy::Action action = exec_policy::Action::kDeny;
  std::string reason = {};  // of a denial, for the user
};

class Approver {
 public:
  virtual ~Approver() = default;

  // Runs on the loop's thread. The task is destroyed when the asking process has ended before the answer came.
  virtual loop::Task<Answer> Ask(Question question) = 0;
};

}  // namespace holdfast::escalate
