// SeccompInterceptor intercepts every execve of a call by seccomp user notification (escalate/seccomp/supervision.h),
// so that any shell can be used, and no program goes past it.
#pragma once

#include <utility>

#include "escalate/seccomp/supervision.h"
#include "loop/event_loop.h"
#include "mcp/interceptor.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"

namespace holdfast::mcp {

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

}  // namespace holdfast::mcp
