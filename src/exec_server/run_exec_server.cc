#include "exec_server/run_exec_server.h"

#include <csignal>
#include <optional>
#include <vector>

#include "exec_server/server.h"
#include "exec_server/server_process.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"

namespace holdfast::exec_server {

Result<> RunExecServer(const Config& config, const RuntimePaths& paths, const OnListening& on_listening) {
  TRY_VOID(SetUpProcess(config, paths));
  loop::EventLoop loop;
  TRY(const auto server, Server::Create(loop, config, paths));
  std::optional<loop::SignalWatch> reload;  // otherwise SIGHUP, the end of a terminal, ends the server
  if (server->asks_for_tokens()) {
    reload.emplace(loop, std::vector{SIGHUP}, [&](int) { server->ReloadTokens(); });
  }
  Result<> published;
  RunUntilSignal(loop, *server, config, paths, [&] {
    published = server->WriteUrlFile();
    if (!published) return server->Shutdown();
    if (on_listening && !server->url().empty()) on_listening(server->url());
  });
  return published;
}

}  // namespace holdfast::exec_server
