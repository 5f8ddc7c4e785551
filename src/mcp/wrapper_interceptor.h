// WrapperInterceptor intercepts the programs that a patched shell executes, by the execve wrapper. Programs that those
// execute themselves are not seen, unless they are patched shells too; the sandbox holds for all of them.
#pragma once

#include <memory>
#include <string>

#include "escalate/wrapper_server/options.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "mcp/interceptor.h"
#include "sandbox/helper_command/sandbox_program.h"

namespace holdfast::mcp {

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
