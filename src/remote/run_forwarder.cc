#include "remote/run_forwarder.h"

#include <optional>
#include <utility>

#include "exec_server/server_process.h"
#include "loop/event_loop.h"
#include "remote/registered_process.h"

namespace holdfast::remote {
namespace {

void WarnOfPlainTarget(const ForwardTarget& target) {
  if (target.token_file.empty() || !transport::IsReadableOnTheWay(target.server)) return;
  LogWarn("forward.plain",
          {{"host", transport::NameOf(target.server)}, {"why", "the token is sent without encryption; use wss"}});
}

}  // namespace

Result<> RunForwarder(ForwarderConfig config) {
  TRY(config.registrant, CheckRegistration(std::move(config.registrant), config.token));
  TRY_VOID(exec_server::PrepareProcess());
  TRY_VOID(InitLog(config.log_level, config.log_format));
  TRY_VOID(ProtectSecrets(config.registrant));
  WarnOfPlainTarget(config.target);
  loop::EventLoop loop;
  Forwarder forwarder(loop, std::move(config.target));
  Executor executor(loop, forwarder,
                    {.registrant = config.registrant,
                     .token = config.token,
                     .ca_file = config.ca_file,
                     .max_connections = forwarder.limits().max_connections,
                     .on_registered = config.on_registered});
  std::optional<EndOfInputWatch> input;
  if (config.end_of_input == EndOfInput::kStops) input.emplace(loop, [&forwarder] { forwarder.Shutdown(); });
  executor.Start();
  exec_server::RunUntilSignal(loop, [&forwarder] { forwarder.Shutdown(); });
  return executor.outcome();
}

}  // namespace holdfast::remote
