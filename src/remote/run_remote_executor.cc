#include "remote/run_remote_executor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "exec_server/server.h"
#include "exec_server/server_process.h"
#include "loop/event_loop.h"
#include "remote/registered_process.h"

namespace holdfast::remote {
namespace {

// The exec-server of this process.
class OwnServer final : public OfferedServer {
 public:
  explicit OwnServer(exec_server::Server& server) : server_(server) {}

  void Serve(std::shared_ptr<rpc::Transport> connection) override { server_.Serve(std::move(connection)); }
  transport::Limits limits() const override { return server_.limits(); }
  void Shutdown() override { server_.Shutdown(); }
  bool stopping() const override { return server_.stopping(); }

 private:
  exec_server::Server& server_;
};

void KeepSessionsThroughPauses(exec_server::Config& config) {
  if (config.detached_ttl_ms != 0) config.detached_ttl_ms = std::max(config.detached_ttl_ms, kMinDetachedTtlMs);
}

}  // namespace

Result<> RunRemoteExecutor(RemoteExecutorConfig config, const exec_server::RuntimePaths& paths) {
  TRY(config.registrant, CheckRegistration(std::move(config.registrant), config.token));
  KeepSessionsThroughPauses(config.server);
  TRY_VOID(exec_server::SetUpProcess(config.server, paths));
  TRY_VOID(ProtectSecrets(config.registrant));
  loop::EventLoop loop;
  TRY(const auto server, exec_server::Server::CreateWithoutListener(loop, config.server, paths));
  if (!config.token.file.empty()) server->HideFromCommands(config.token.file);
  OwnServer offered(*server);
  Executor executor(loop, offered,
                    {.registrant = config.registrant,
                     .token = config.token,
                     .ca_file = config.ca_file,
                     .max_connections = config.server.max_connections,
                     .on_registered = config.on_registered});
  std::optional<EndOfInputWatch> input;
  exec_server::RunUntilSignal(loop, *server, config.server, paths, [&] {
    if (config.end_of_input == EndOfInput::kStops) {
      input.emplace(loop, [&server] { server->Shutdown(); });
    }
    executor.Start();
  });
  return executor.outcome();
}

}  // namespace holdfast::remote
