// An Interceptor has the rules decide about programs before the processes of a call execute them. Which programs it
// sees depends on the kind: SeccompInterceptor sees all, WrapperInterceptor those that a patched shell executes. It
// makes the command that the server starts: the shell in its sandbox, with the variables and descriptors that the
// interception needs.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "escalate/approver.h"
#include "escalate/seccomp/supervision.h"
#include "escalate/wrapper_server/options.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/command/command.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/policy/sandbox_spec.h"

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

// SeccompInterceptor intercepts every execve of a call by seccomp user notification (escalate/seccomp/supervision.h),
// so that any shell can be used, and no program goes past it.
class SeccompInterceptor final : public Interceptor {
 public:
  // The references outlive the interceptor.
  SeccompInterceptor(loop::EventLoop& loop, process::Spawner& spawner, const sandbox::SandboxProgram& sandbox_program,
                     escalate::SupervisionOptions options)
      : loop_(loop), spawner_(spawner), sandbox_program_(sandbox_program), options_(std::move(options)) {}

  Result<InterceptedCommand> Begin(const process::Command& command, const sandbox::SandboxSpec& sandbox,
                                   escalate::Approver& approver) override;

 private:
  loop::EventLoop& loop_;
  process::Spawner& spawner_;
  const sandbox::SandboxProgram& sandbox_program_;
  const escalate::SupervisionOptions options_;
};

// WrapperInterceptor intercepts the programs that a patched shell executes, by the execve wrapper. Programs that those
// execute themselves are not seen, unless they are patched shells too; the sandbox holds for all of them.
class WrapperInterceptor final : public Interceptor {
 public:
  // `wrapper` is the path of the program holdfast-execve-wrapper, which must be the same in the sandbox. `loop`,
  // `workers` and `sandbox_program` outlive the interceptor.
  WrapperInterceptor(loop::EventLoop& loop, loop::WorkerPool& workers, const sandbox::SandboxProgram& sandbox_program,
                     std::string wrapper, escalate::WrapperServerOptions options);

  Result<InterceptedCommand> Begin(const process::Command& command, const sandbox::SandboxSpec& sandbox,
                                   escalate::Approver& approver) override;

 private:
  loop::EventLoop& loop_;
  loop::WorkerPool& workers_;
  const sandbox::SandboxProgram& sandbox_program_;
  const std::string wrapper_;
  const escalate::WrapperServerOptions options_;
};

}  // namespace holdfast::mcp
