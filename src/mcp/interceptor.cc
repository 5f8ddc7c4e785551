#include "mcp/interceptor.h"

#include <memory>
#include <utility>

#include "escalate/messages/messages.h"
#include "escalate/wrapper_server/wrapper_server.h"
#include "process/command/environment.h"

namespace holdfast::mcp {
namespace {

class Supervised final : public Interception {
 public:
  explicit Supervised(std::unique_ptr<escalate::Supervision> supervision) : supervision_(std::move(supervision)) {}

 private:
  std::unique_ptr<escalate::Supervision> supervision_;
};

class ServedWrappers final : public Interception {
 public:
  explicit ServedWrappers(std::unique_ptr<escalate::WrapperServer> server) : server_(std::move(server)) {}

 private:
  std::unique_ptr<escalate::WrapperServer> server_;
};

}  // namespace

Result<InterceptedCommand> SeccompInterceptor::Begin(const process::Command& command, escalate::Approver& approver) {
  escalate::SupervisionOptions options = options_;
  options.environment = command.env;
  TRY(auto supervision, escalate::Supervision::Create(loop_, spawner_, approver, std::move(options)));
  auto socket = supervision->helper_socket();
  return InterceptedCommand{.command = command,
                            .interception = std::make_unique<Supervised>(std::move(supervision)),
                            .exec_supervisor = std::move(socket)};
}

WrapperInterceptor::WrapperInterceptor(loop::EventLoop& loop, loop::WorkerPool& workers, std::string wrapper,
                                       escalate::WrapperServerOptions options)
    : loop_(loop), workers_(workers), wrapper_(std::move(wrapper)), options_(std::move(options)) {}

Result<InterceptedCommand> WrapperInterceptor::Begin(const process::Command& command, escalate::Approver& approver) {
  escalate::WrapperServerOptions options = options_;
  options.environment = command.env;
  TRY(auto server, escalate::WrapperServer::Create(loop_, workers_, approver, std::move(options)));
  process::Command shell = command;
  shell.env =
      process::BuildEnvironment({.ignore_default_excludes = true}, command.env, escalate::WrapperVariables(wrapper_));
  sandbox::KeptDescriptor socket{.name = std::string(escalate::kSocketVariable), .fd = server->client_socket()};
  return InterceptedCommand{.command = std::move(shell),
                            .interception = std::make_unique<ServedWrappers>(std::move(server)),
                            .kept = std::move(socket)};
}

}  // namespace holdfast::mcp
