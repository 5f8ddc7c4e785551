// The exec-server listens and serves connections until Shutdown is called. When it has stopped, no process that it
// started is alive, unless the kernel could not kill one in time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/connection.h"
#include "exec_server/idle_watch.h"
#include "exec_server/methods.h"
#include "exec_server/runtime_paths.h"
#include "exec_server/server_parts.h"
#include "exec_server/session/session_service.h"
#include "exec_server/session/session_table.h"
#include "exec_server/startup_check.h"
#include "exec_server/token_auth.h"
#include "loop/event_loop.h"
#include "process/spawner.h"
#include "transport/listener.h"
#include "wire/json.h"

namespace holdfast::exec_server {

class Server {
 public:
  // `config` must outlive the server.
  static Result<std::unique_ptr<Server>> Create(loop::EventLoop& loop, const Config& config,
                                                const RuntimePaths& paths = {});

  // Runs `command` and logs each line that it prints as a warning; startup_check.h has the details.
  void RunStartupCheck(const process::Command& command);

  // The URL that the server listens on; empty if it serves standard input and output.
  std::string url() const;

  // Whether clients prove themselves by bearer tokens, and then reading the file of the token or secret again. A file
  // that cannot be used is logged, and changes nothing.
  bool asks_for_tokens() const { return token_auth_ != nullptr; }
  void ReloadTokens();

  // Accepts no further connections, ends every process (SIGTERM, then SIGKILL after the configured grace period),
  // closes the connections and then stops the loop.
  void Shutdown();

 private:
  Server(loop::EventLoop& loop, const Config& config, const RuntimePaths& paths,
         std::unique_ptr<process::Spawner> spawner);

  Result<> Listen();
  Result<> ListenOnPort(const transport::WebSocketUrl& url, transport::OnConnection accept);
  void KeepCommandsFromPort(const std::string& url_secret);
  void Accept(std::shared_ptr<rpc::Transport> transport);
  void OnConnectionEnd(Connection& connection);
  void EndSessions(std::chrono::milliseconds grace);
  void CloseConnections();
  void StopWhenEmpty();

  loop::EventLoop& loop_;
  const Config& config_;
  std::unique_ptr<process::Spawner> spawner_;
  ServerParts parts_;
  SessionTable sessions_;
  SessionService session_service_;
  Methods methods_;
  wire::Document document_;
  std::shared_ptr<TokenAuth> token_auth_;          // null if clients need no bearer token
  std::unique_ptr<transport::Listener> listener_;  // null if the server serves standard input and output
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_;
  std::unique_ptr<StartupCheck> startup_check_;
  loop::Timer shutdown_timer_;
  std::optional<IdleWatch> idle_watch_;  // only if the server exits when it is idle
  bool stopping_ = false, processes_ended_ = false;
};

}  // namespace holdfast::exec_server
