// An Interceptor watches the programs that the shell of a call executes, and the programs that those execute. It makes
// the command that the server starts: the shell in its sandbox, with what the watch needs in its environment and among
// its descriptors.
#pragma once

#include <memory>

#include "base/result.h"
#include "escalate/approver.h"
#include "process/command/command.h"
#include "sandbox/launch/sandbox_spec.h"

namespace holdfast::mcp {

// The watch over one call. Its end kills the commands that run outside of the sandbox, and no program is executed
// afterwards.
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
