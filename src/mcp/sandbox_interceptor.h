// SandboxInterceptor puts the shell into its sandbox and watches nothing.
#pragma once

#include "mcp/interceptor.h"
#include "sandbox/launch/sandbox_program.h"

namespace holdfast::mcp {

class SandboxInterceptor final : public Interceptor {
 public:
  // `sandbox_program` outlives the interceptor.
  explicit SandboxInterceptor(const sandbox::SandboxProgram& sandbox_program) : sandbox_program_(sandbox_program) {}

  Result<InterceptedCommand> Begin(const process::Command& command, const sandbox::SandboxSpec& sandbox,
                                   escalate::Approver& approver) override;

 private:
  const sandbox::SandboxProgram& sandbox_program_;
};

}  // namespace holdfast::mcp
