#include "exec_server/server.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"
#include "exec_server/front_options.h"
#include "exec_server/ws_auth.h"
#include "transport/listen_url.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

// The time that a shutdown may take beyond the grace period. It runs out only if a process cannot be killed or a client
// does not close its connection; the server then stops without waiting any longer.
constexpr auto kShutdownSlack = 5s;

}  // namespace

Result<std::unique_ptr<Server>> Server::Create(loop::EventLoop& loop, const Config& config, const RuntimePaths& paths) {
  TRY(auto spawner, process::Spawner::Create(loop));
  std::unique_ptr<Server> server(new Server(loop, config, paths, std::move(spawner)));
  TRY_VOID(server->Listen());
  return server;
}

Result<std::unique_ptr<Server>> Server::CreateWithoutListener(loop::EventLoop& loop, const Config& config,
                                                              const RuntimePaths& paths) {
  TRY(auto spawner, process::Spawner::Create(loop));
  return std::unique_ptr<Server>(new Server(loop, config, paths, std::move(spawner)));
}

transport::Limits Server::limits() const {
  transport::Limits limits;
  limits.budget = parts_.held;
  limits.max_connections = config_.max_connections;
  limits.max_frame_bytes = config_.max_frame_bytes;
  limits.max_message_bytes = config_.max_message_bytes;
  limits.ping_interval = std::chrono::milliseconds(config_.ping_interval_ms);
  return limits;
}

void Server::HideFromCommands(const std::string& file) {
  sandbox::ServerAccess access;
  access.Hide(file);
  parts_.sandbox_program.KeepCommandsFrom(std::move(access));
}

void Server::RunStartupCheck(const process::Command& command) {
  if (stopping_) return;
  auto check = StartupCheck::Start(loop_, *spawner_, command);
  if (check) startup_check_ = *std::move(check);
}

Server::Server(loop::EventLoop& loop, const Config& config, const RuntimePaths& paths,
               std::unique_ptr<process::Spawner> spawner)
    : loop_(loop),
      config_(config),
      spawner_(std::move(spawner)),
      parts_(loop, *spawner_, config, paths),
      sessions_(parts_.sessions),
      session_service_(sessions_, *parts_.held),
      methods_(MakeMethods(parts_, session_service_)),
      shutdown_timer_(loop, [this] { loop_.Stop(); }) {
  if (config.exit_when_idle_ms == 0) return;
  idle_watch_.emplace(loop, parts_.processes, std::chrono::milliseconds(config.exit_when_idle_ms), [this] {
    LogInfo("server.idle", {});
    Shutdown();
  });
}

Result<> Server::Listen() {
  const auto url = transport::ParseListenUrl(config_.listen);
  if (!url) return std::unexpected(Error(url.error()));
  auto accept = [this](std::shared_ptr<rpc::Transport> transport) { Serve(std::move(transport)); };
  if (const auto* web_socket = std::get_if<transport::WebSocketUrl>(&*url)) {
    return ListenOnPort(*web_socket, std::move(accept));
  }
  TRY_VOID(CheckAuthWithoutPort(config_));
  TRY_VOID(CheckTlsWithoutPort(config_));
  if (const auto* unix_socket = std::get_if<transport::UnixUrl>(&*url)) {
    TRY(listener_, transport::ListenUnix(loop_, *unix_socket, limits(), ServerRoutes(), std::move(accept)));
    KeepCommandsFrom(sandbox::ServerAccess::OfSocket(unix_socket->path));
  } else if (!config_.url_file.empty()) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("--url-file needs an address to listen on, not {}", config_.listen));
  } else {
    ends_with_connection_ = true;
    Serve(transport::ServeLines(loop_, STDIN_FILENO, STDOUT_FILENO, limits()));
  }
  return {};
}

Result<> Server::ListenOnPort(const transport::WebSocketUrl& url, transport::OnConnection accept) {
  TRY(token_auth_, TokenAuth::Create(config_));
  TRY(transport::HttpFrontOptions options, FrontOptionsFor(url, config_, token_auth_));
  const std::string secret = options.authorizer.secret;
  TRY(listener_, transport::ListenWebSocket(loop_, url, limits(), std::move(options), std::move(accept)));
  KeepCommandsFromPort(secret);
  return {};
}

Result<> Server::WriteUrlFile() {
  if (config_.url_file.empty()) return {};
  TRY(UrlFile file, UrlFile::Create(config_.url_file, url()));
  url_file_.emplace(std::move(file));
  KeepCommandsFrom(access_);
  return {};
}

void Server::KeepCommandsFrom(sandbox::ServerAccess access) {
  access_ = access;
  if (url_file_) access.Hide(url_file_->path());
  parts_.sandbox_program.KeepCommandsFrom(std::move(access));
}

void Server::KeepCommandsFromPort(const std::string& url_secret) {
  sandbox::ServerAccess access;
  if (token_auth_) {
    access = sandbox::ServerAccess::OfSecret(token_auth_->secret());
    if (!token_auth_->file().empty()) access.Hide(token_auth_->file());
  } else if (!url_secret.empty()) {
    access = sandbox::ServerAccess::OfSecret(url_secret);
  } else if (!config_.insecure_no_auth) {
    access = sandbox::ServerAccess::OfOpenPort(listener_->port());
  }
  if (!config_.tls_key.empty()) access.Hide(config_.tls_key);
  KeepCommandsFrom(std::move(access));
}

// The path of the file may lead elsewhere than before, and the secret may be another one.
void Server::ReloadTokens() {
  token_auth_->Reload();
  KeepCommandsFromPort("");
}

std::string Server::url() const { return listener_ ? listener_->url() : std::string(); }

void Server::Serve(std::shared_ptr<rpc::Transport> transport) {
  if (stopping_) return transport->Close();
  LogInfo("connection.opened", {{"peer", transport->peer()}});
  const ConnectionContext context{.loop = loop_,
                                  .config = config_,
                                  .held = *parts_.held,
                                  .heap = parts_.heap,
                                  .environment_info = parts_.environment.info(),
                                  .sessions = sessions_,
                                  .methods = methods_,
                                  .sandbox_program = parts_.sandbox_program,
                                  .document = document_};
  auto connection = std::make_shared<Connection>(context, std::move(transport),
                                                 [this](Connection& ended) { OnConnectionEnd(ended); });
  connections_.emplace(connection.get(), connection);
  if (idle_watch_) idle_watch_->SetConnections(connections_.size());
  connection->Start();
}

void Server::OnConnectionEnd(Connection& connection) {
  LogInfo("connection.closed", {{"peer", connection.remote_name()}});
  // The connection is calling this function, so it is destroyed in a later turn of the loop.
  loop_.Post([ended = std::move(connections_[&connection])] {});
  connections_.erase(&connection);
  if (idle_watch_) idle_watch_->SetConnections(connections_.size());
  if (ends_with_connection_ && !stopping_) {
    // Standard input has ended, and the only client cannot connect again.
    stopping_ = true;
    EndSessions(0ms);
  }
  StopWhenEmpty();
}

void Server::Shutdown() {
  if (stopping_) return;
  LogInfo("server.stopping", {{"connections", connections_.size()}});
  stopping_ = true;
  if (listener_) listener_->Stop();
  url_file_.reset();
  EndSessions(std::chrono::milliseconds(config_.shutdown_grace_period_ms));
}

void Server::EndSessions(std::chrono::milliseconds grace) {
  shutdown_timer_.Start(grace + kShutdownSlack);
  sessions_.EndAll(grace, [this] {
    processes_ended_ = true;
    CloseConnections();
    StopWhenEmpty();
  });
}

void Server::CloseConnections() {
  auto connections = connections_;  // a copy, because closing a connection may remove it from the map
  for (auto& [key, connection] : connections) connection->Close();
}

void Server::StopWhenEmpty() {
  if (processes_ended_ && connections_.empty()) loop_.Stop();
}

}  // namespace holdfast::exec_server
