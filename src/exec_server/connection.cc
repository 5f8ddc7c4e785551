#include "exec_server/connection.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "wire/methods.h"

namespace holdfast::exec_server {

namespace {

// The longest message that a codex client accepts. All versions close the connection when a longer one arrives.
constexpr size_t kCodexMessageBytes = 64u << 20;

// The time in which a connection that has a session must give a sign of life when another one wants to resume it.
constexpr std::chrono::milliseconds kPatienceWithSilence{1'000};

constexpr size_t kMaxClientNameBytes = 256;  // the name is logged, and listed to other clients

ClientTraits TraitsOf(const wire::InitializeParams& params) {
  ClientTraits client;
  client.name = std::make_shared<const std::string>(params.client_name);
  if (params.client_name.starts_with("codex")) client.max_message_bytes = kCodexMessageBytes;
  if (!params.capabilities) return client;
  if (params.capabilities->lifecycle) client.lifecycle = Lifecycle::kAnnounced;
  if (params.capabilities->max_message_bytes) client.max_message_bytes = *params.capabilities->max_message_bytes;
  return client;
}

rpc::PeerOptions OptionsOf(const Config& config) {
  rpc::PeerOptions options;
  options.max_inflight = config.max_inflight;
  options.max_inflight_bytes = config.max_message_bytes;
  return options;
}

}  // namespace

Connection::Connection(const ConnectionContext& context, std::shared_ptr<rpc::Transport> transport, OnEnd on_end)
    : context_(context),
      on_end_(std::move(on_end)),
      peer_(std::make_shared<rpc::Peer>(rpc::PeerContext{context.loop, context.held, context.document},
                                        OptionsOf(context.config), std::move(transport), *this)) {}

void Connection::OnRequest(const rpc::Request& request, rpc::PendingReply reply) {
  const Methods::Row* method = context_.methods.Find(request.method);
  if (method == nullptr) return OnHandshake(request, std::move(reply));
  auto call = method->prepare(request.params);
  if (!call) return reply.Fail(call.error());
  if (auto ready = CheckReady(request.method); !ready) return reply.Fail(ready.error());
  if (auto allowed = CheckRole(method->caller); !allowed) return reply.Fail(allowed.error());
  (*call)(*attachment_, std::move(reply));
}

// Serves the methods that need no session, which have a table of their own.
void Connection::OnHandshake(const rpc::Request& request, rpc::PendingReply reply) {
  static const rpc::MethodTable<Connection> methods = [] {
    rpc::MethodTable<Connection> table;
    table.Bind<wire::Initialize>(&Connection::Initialize);
    return table;
  }();
  const auto* method = methods.Find(request.method);
  if (method == nullptr) {
    return reply.Fail({ErrorKind::kUnknownMethod, fmt::format("unknown method {}", request.method)});
  }
  auto call = method->prepare(request.params);
  if (!call) return reply.Fail(call.error());
  (*call)(*this, std::move(reply));
}

void Connection::OnNotification(const rpc::Notification& notification) {
  if (notification.method != wire::Initialized::kName) {
    return OnUnreadable({ErrorKind::kInvalidRequest, fmt::format("unexpected notification {}", notification.method)});
  }
  if (phase_ == Phase::kFresh || phase_ == Phase::kOpening) {
    return OnUnreadable({ErrorKind::kInvalidRequest, "initialized came before initialize was answered"});
  }
  context_.sandbox_program.AwaitHelper();
  if (phase_ == Phase::kInitialized) session_->OnReady(*attachment_, peer_);
  phase_ = Phase::kReady;
}

void Connection::OnUnreadable(const Error& error) {
  LogDebug("message.refused", {{"peer", remote_name()}, {"reason", error.message}});
  peer_->Refuse(error);
}

void Connection::OnStrayResponse(const rpc::Response&) {
  OnUnreadable({ErrorKind::kInvalidRequest, "a message without method: it answers no request of this server"});
}

void Connection::Initialize(const wire::InitializeParams& params, rpc::Reply<wire::InitializeResult> reply) {
  if (phase_ != Phase::kFresh) return reply.Fail({ErrorKind::kInvalidRequest, "initialize was sent already"});
  if (params.client_name.size() > kMaxClientNameBytes) {
    return reply.Fail(
        {ErrorKind::kInvalidParams, fmt::format("clientName: has more than {} bytes", kMaxClientNameBytes)});
  }
  phase_ = Phase::kOpening;
  opening_.Start(Open(params, std::move(reply)));
}

loop::Task<> Connection::Open(wire::InitializeParams params, rpc::Reply<wire::InitializeResult> reply) {
  auto session = co_await FindSession(params);
  if (!session) {
    phase_ = Phase::kFresh;
    co_return reply.Fail(session.error());
  }
  session_ = *std::move(session);
  auto result = Attach(params);
  phase_ = Phase::kInitialized;
  reply(std::move(result));
}

// A client whose connection has broken comes back, and the server may not know yet that the old connection is gone: a
// node of a rendezvous that has died says nothing. The old connection has the session for as long as it answers.
loop::Task<Result<std::shared_ptr<Session>>> Connection::FindSession(const wire::InitializeParams& params) {
  for (;;) {
    auto session = context_.sessions.Open(params);
    if (session || session.error().kind != ErrorKind::kSessionAttached) co_return session;
    const auto attached = context_.sessions.Find(*params.resume_session_id);
    if (co_await attached->ProbeClient(kPatienceWithSilence) == rpc::Presence::kAnswers) co_return session;
  }
}

wire::InitializeResult Connection::Attach(const wire::InitializeParams& params) {
  attachment_ = &session_->Attach(peer_->transport(), TraitsOf(params), params.sharing.role);
  LogInfo(params.resume_session_id ? "session.resumed" : "session.opened",
          {{"session", session_->id()}, {"client", params.client_name}, {"peer", remote_name()}});
  wire::InitializeResult result;
  result.session_id = session_->id();
  result.environment_info = context_.environment_info;
  result.session_name = session_->name();
  if (session_->shared()) result.role = attachment_->role();
  return result;
}

Result<> Connection::CheckReady(std::string_view method) const {
  if (phase_ == Phase::kReady) return {};
  const char* missing = phase_ == Phase::kInitialized ? wire::Initialized::kName : wire::Initialize::kName;
  return Fail(ErrorKind::kInvalidRequest, fmt::format("{} needs {} first", method, missing));
}

Result<> Connection::CheckRole(wire::Caller caller) const {
  if (caller == wire::Caller::kDriverOrObserver) return {};
  return RequireDriver(attachment_->role());
}

void Connection::OnCongested() {
  if (attachment_ != nullptr) attachment_->files().OnCongested();
}

void Connection::OnDrained() {
  if (attachment_ != nullptr) session_->OnDrained(*attachment_);
}

void Connection::OnReclaimed(size_t inflight_bytes) {
  LogWarn("connection.reclaimed", {{"peer", remote_name()}, {"inflight_bytes", inflight_bytes}});
}

void Connection::OnClosed() {
  if (attachment_ != nullptr) context_.sessions.Detach(*std::exchange(attachment_, nullptr));
  session_.reset();
  on_end_(*this);
}

}  // namespace holdfast::exec_server
