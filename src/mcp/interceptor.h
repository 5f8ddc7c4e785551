// An Interceptor has the rules decide about programs before the processes of a call execute them. Which programs it
// sees depends on the kind: SeccompInterceptor sees all, WrapperInterceptor those that a patched shell executes. It
// makes the command that the server starts: the shell in its sandbox, with the variables and descriptors that the
// interception needs.
#pragma once

#include <memory>

#include "base/result.h"
#include "escalate/approver.h"
#include "process/command/command.h"
#include "sandbox/helper_command/sandbox_spec.h"

namespace holdfast::mcp {

// The interception of one call. Its end kills the commands that run outside of the sandbox. Afterwards no program of
// the call leaves the sandbox, and a program that would be intercepted is not executed.
class Interception {
 public:
  virtual ~Interception() = default;
};

struct InterceptedCommand {
  process::Command command;
  std::unique_ptr<Interception> interception = {};
};

class Interceptor {
 public:
  virtual ~Interceptor() = default;

  // Returns the command that runs `command` under `sandbox`. `approver` outlives the interception.
  virtual Result<InterceptedCommand> Begin(const process::Command& command, const sandbox::SandboxSpec& sandbox,
                                           escalate::Approver& approver) = 0;
};

}  // namespace holdfast::mcp
