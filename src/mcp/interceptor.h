// An Interceptor has the rules decide about programs before the processes of a call execute them. Which programs it
// sees depends on the kind: SeccompInterceptor sees all, WrapperInterceptor those that a patched shell executes. It
// says what the shell of the call needs for that in its sandbox: variables and descriptors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/approver.h"
#include "escalate/seccomp/supervision.h"
#include "escalate/wrapper_server/options.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/command/command.h"
#include "process/spawner.h"
#include "process/watched_start.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/sandboxed_start.h"

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
  // The socket of the supervisor, and the descriptor that the shell inherits (sandbox::WrapOptions has the same two).
  std::shared_ptr<const OwnedFd> exec_supervisor = {};
  std::optional<sandbox::KeptDescriptor> kept = {};
};

// Returns the start of a shell in its sandbox.
using StartInSandbox = std::function<process::WatchedStart(sandbox::SandboxedStart::Request request)>;

class Interceptor {
 public:
  virtual ~Interceptor() = default;

  // Begins to intercept `command`, which is still to be started. `approver` outlives the interception.
  virtual Result<InterceptedCommand> Begin(const process::Command& command, escalate::Approver& approver) = 0;
};

// SeccompInterceptor intercepts every execve of a call by seccomp user notification (escalate/seccomp/supervision.h),
// so that any shell can be used, and no program goes past it.
class SeccompInterceptor final : public Interceptor {
 public:
  // The references outlive the interceptor.
  SeccompInterceptor(loop::EventLoop& loop, process::Spawner& spawner, escalate::SupervisionOptions options)
      : loop_(loop), spawner_(spawner), options_(std::move(options)) {}

  Result<InterceptedCommand> Begin(const process::Command& command, escalate::Approver& approver) override;

 private:
  loop::EventLoop& loop_;
  process::Spawner& spawner_;
  const escalate::SupervisionOptions options_;
};

// WrapperInterceptor intercepts the programs that a patched shell executes, by the execve wrapper. Programs that those
// execute themselves are not seen, unless they are patched shells too; the sandbox holds for all of them.
class WrapperInterceptor final : public Interceptor {
 public:
  // `wrapper` is the path of the program holdfast-execve-wrapper, which must be the same in the sandbox. `loop` and
  // `workers` outlive the interceptor.
  WrapperInterceptor(loop::EventLoop& loop, loop::WorkerPool& workers, std::string wrapper,
                     escalate::WrapperServerOptions options);

  Result<InterceptedCommand> Begin(const process::Command& command, escalate::Approver& approver) override;

 private:
  loop::EventLoop& loop_;
  loop::WorkerPool& workers_;
  const std::string wrapper_;
  const escalate::WrapperServerOptions options_;
};

}  // namespace holdfast::mcp
