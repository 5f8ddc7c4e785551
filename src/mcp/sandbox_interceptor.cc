#include "mcp/sandbox_interceptor.h"

namespace holdfast::mcp {

Result<InterceptedCommand> SandboxInterceptor::Begin(const process::Command& command,
                                                     const sandbox::SandboxSpec& sandbox, escalate::Approver&) {
  if (!sandbox.restricts()) return InterceptedCommand{command};
  TRY(process::Command wrapped, sandbox_program_.Wrap(command, sandbox));
  return InterceptedCommand{std::move(wrapped)};
}

}  // namespace holdfast::mcp
