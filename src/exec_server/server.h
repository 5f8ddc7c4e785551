// The exec-server serves connections, those that it accepts or is given, until Shutdown is called. When it has stopped,
// no process that it started is alive, unless the kernel could not kill one in time.
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
#include "exec_server/url_file.h"
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

  // Makes a server that does not listen: its owner passes connections to Serve. It does not end with a connection.
  static Result<std::unique_ptr<Server>> CreateWithoutListener(loop::EventLoop& loop, const Config& config,
                                                               const RuntimePaths& paths = {});

  // Serves a connection that is open already. A server that is stopping closes it.
  void Serve(std::shared_ptr<rpc::Transport> transport);

  // Returns the limits for connections that are passed to Serve.
  transport::Limits limits() const;

  // Hides a file from sandboxed commands. The server must not listen.
  void HideFromCommands(const std::string& file);

  // Runs `command` and logs each line that it prints as a warning; startup_check.h has the details.
  void RunStartupCheck(const process::Command& command);

  // The URL that the server listens on; empty if it does not listen.
  std::string url() const;

  // Writes the file with the URL, if the settings name one, and hides it from sandboxed commands. Shutdown removes it.
  // This is called when signals lead to Shutdown already, because a reader of the file may send one at once.
  Result<> WriteUrlFile();

  // Whether clients prove themselves by bearer tokens, and then reading the file of the token or secret again. A file
  // that cannot be used is logged, and changes nothing.
  bool asks_for_tokens() const { return token_auth_ != nullptr; }
  void ReloadTokens();

  // Accepts no further connections, ends every process (SIGTERM, then SIGKILL after the configured grace period),
  // closes the connections and then stops the loop.
  void Shutdown();
  bool stopping() const { return stopping_; }

 private:
  Server(loop::EventLoop& loop, const Config& config, const RuntimePaths& paths,
         std::unique_ptr<process::Spawner> spawner);

  Result<> Listen();
  Result<> ListenOnPort(const transport::WebSocketUrl& url, transport::OnConnection accept);
  void KeepCommandsFrom(sandbox::ServerAccess access);
  void KeepCommandsFromPort(const std::string& url_secret);
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
  std::unique_ptr<transport::Listener> listener_;  // null if the server does not listen
  sandbox::ServerAccess access_;                   // without the file of the URL
  std::optional<UrlFile> url_file_;                // only if one is wanted, and while the server listens
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_;
  std::unique_ptr<StartupCheck> startup_check_;
  loop::Timer shutdown_timer_;
  std::optional<IdleWatch> idle_watch_;  // only if the server exits when it is idle
  bool ends_with_connection_ = false;    // the only client cannot connect again
  bool stopping_ = false, processes_ended_ = false;
};

}  // namespace holdfast::exec_server
