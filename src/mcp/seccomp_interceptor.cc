#include "mcp/seccomp_interceptor.h"

#include <memory>

namespace holdfast::mcp {
namespace {

class Supervised final : public Interception {
 public:
  explicit Supervised(std::unique_ptr<escalate::Supervision> supervision) : supervision_(std::move(supervision)) {}

 private:
  std::unique_ptr<escalate::Supervision> supervision_;
};

}  // namespace

Result<InterceptedCommand> SeccompInterceptor::Begin(const process::Command& command,
                                                     const sandbox::SandboxSpec& sandbox,
                                                     escalate::Approver& approver) {
  escalate::SupervisionOptions options = options_;
  options.environment = command.env;
  TRY(auto supervision, escalate::Supervision::Create(loop_, spawner_, approver, std::move(options)));
  TRY(process::Command wrapped,
      sandbox_program_.Wrap(command, sandbox, {.exec_supervisor = supervision->helper_socket()}));
  return InterceptedCommand{std::move(wrapped), std::make_unique<Supervised>(std::move(supervision))};
}

}  // namespace holdfast::mcp
