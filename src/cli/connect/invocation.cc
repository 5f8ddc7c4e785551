#include "cli/connect/invocation.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "auth/secret_file.h"
#include "base/shown_text.h"
#include "cli/private_server/private_server.h"
#include "cli/text/complaint.h"
#include "client/url_dialer.h"
#include "loop/scope.h"
#include "runtime_dir/runtime_dir.h"
#include "sys/write_all.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// The connection may be away for as long as with published clients, and somewhat longer. A private server that was
// killed does not come back by itself.
constexpr auto kRecovery = 60s;
constexpr auto kPrivateRecovery = 2s;
constexpr auto kHiccup = 1s;  // a lost connection that is back before is not reported
constexpr auto kNoLimit = std::chrono::hours(24 * 365);

bool IsUnreachable(const Error& error) {
  return error.kind == ErrorKind::kDisconnected || error.kind == ErrorKind::kTimeout;
}

// A unix socket needs no token, and its transport has no place for one.
Result<std::string> ReadToken(const ServerChoice& server) {
  if (server.token_file.empty() || server.is_local()) return std::string();
  TRY(auth::FileSecret secret, auth::ReadSecretFile(server.token_file));
  return std::move(secret.text);
}

loop::Task<> Finish(Invocation& invocation, RemoteFunction function, int& status) {
  status = co_await function(invocation);
  co_await invocation.CloseConnections();
  invocation.loop().Stop();
}

}  // namespace

Invocation::Invocation(loop::EventLoop& loop, const Arguments& arguments)
    : loop_(loop), arguments_(arguments), server_(ChooseServer(arguments)), loss_timer_(loop, [this] {
        has_reported_loss_ = true;
        (void)Complain("the connection to the server is lost; trying again");
      }) {}

Result<> Invocation::PreparePrivateServer(Starting starting) const {
  if (server_.source != ServerChoice::Source::kPrivate) return {};
  TRY(const RuntimeDir place, runtime_dir::FindRuntimeDir());
  if (starting == Starting::kOnDemand) return EnsurePrivateServer({.directory = place});
  const auto directory = runtime_dir::OpenRuntimeDir(place);
  if (!directory && directory.error().kind != ErrorKind::kNotFound) return std::unexpected(directory.error());
  if (directory && IsPrivateServerUp(directory->get(), place)) return {};
  return Fail(ErrorKind::kNotFound, "no private server runs");
}

loop::Task<Result<client::ExecServerClient>> Invocation::Connect(Starting starting,
                                                                 std::optional<client::SharedSession> session,
                                                                 client::Approver approver) {
  const bool is_private = server_.source == ServerChoice::Source::kPrivate;
  client::ConnectOptions options{.url = server_.url, .client_name = "holdfast " + arguments_.command().name};
  options.ca_file = server_.ca_file;
  auto token = ReadToken(server_);
  if (!token) co_return std::unexpected(token.error());
  options.bearer_token = *std::move(token);
  WarnOfReadableToken(options);
  options.call_timeout = kNoLimit;
  options.recover_for = kRecovery;
  options.session = std::move(session);
  options.approver = std::move(approver);
  options.on_connectivity = [this](client::Connectivity connectivity) { OnConnectivity(connectivity); };
  if (is_private) {
    options.recover_for = kPrivateRecovery;
    options.unix_peer = client::UnixPeer::kOurs;
  }
  // The private server may exit because it is idle, just before the connection is made. Then another one is started.
  for (int attempts = is_private ? 2 : 1;; --attempts) {
    if (auto prepared = PreparePrivateServer(starting); !prepared) co_return std::unexpected(prepared.error());
    auto client = co_await client::ExecServerClient::Connect(loop_, options);
    if (client) sessions_.push_back(client->session().shared_from_this());
    if (client || !IsUnreachable(client.error())) co_return std::move(client);
    if (attempts > 1) continue;
    const std::string advice = Advice(server_);
    if (advice.empty()) co_return std::move(client);
    co_return Fail(client.error().kind, fmt::format("{}; {}", client.error().message, advice));
  }
}

void Invocation::WarnOfReadableToken(const client::ConnectOptions& options) {
  if (has_warned_ || !client::IsTokenReadable(options)) return;
  has_warned_ = true;
  (void)Complain(
      "warning: the token is sent without encryption, and machines on the way can read it; use https or wss");
}

void Invocation::OnConnectivity(client::Connectivity connectivity) {
  if (connectivity == client::Connectivity::kLost) return loss_timer_.Start(kHiccup);
  loss_timer_.Stop();
  if (std::exchange(has_reported_loss_, false)) (void)Complain("the connection is back");
}

loop::Task<> Invocation::CloseConnections() {
  loss_timer_.Stop();
  for (const auto& session : sessions_) {
    session->Close();
    co_await session->WaitForEnd();
  }
}

int Invocation::Complain(std::string_view message, int status) const {
  PrintComplaint("holdfast " + arguments_.command().name, message);
  return status;
}

int RunRemote(const Arguments& arguments, RemoteFunction function) {
  loop::EventLoop loop;
  Invocation invocation(loop, arguments);
  int status = 1;
  loop::Scope scope;
  scope.Start(Finish(invocation, function, status));
  loop.Run();
  return status;
}

void Print(std::string_view text) { (void)sys::WriteAll(STDOUT_FILENO, text); }

void PrintJson(std::string_view json) { Print(ShownJson(json) + "\n"); }

}  // namespace holdfast::cli
