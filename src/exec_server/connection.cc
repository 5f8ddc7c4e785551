#include "exec_server/connection.h"

#include <fmt/format.h>

#include "base/log.h"

namespace holdfast::exec_server {

namespace {

// The longest message that a codex client accepts. All versions close the connection when a longer one arrives.
constexpr size_t kCodexMessageBytes = 64u << 20;

// The requests of one connection need no permit from the budget while they have no more bytes than this together.
constexpr size_t kFreeInflightBytes = 64u << 10;

ClientTraits TraitsOf(const wire::InitializeParams& params) {
  ClientTraits client;
  if (params.client_name.starts_with("codex")) client.max_message_bytes = kCodexMessageBytes;
  if (!params.capabilities) return client;
  if (params.capabilities->lifecycle) client.lifecycle = Lifecycle::kAnnounced;
  if (params.capabilities->max_message_bytes) client.max_message_bytes = *params.capabilities->max_message_bytes;
  return client;
}

}  // namespace

Connection::Connection(const ConnectionContext& context, std::shared_ptr<rpc::Transport> transport, OnEnd on_end)
    : context_(context),
      transport_(std::move(transport)),
      on_end_(std::move(on_end)),
      unsent_(context.held.Open([this] { OnReclaim(); })) {}

void Connection::OnMessage(std::string_view message) {
  auto incoming = rpc::ParseEnvelope(context_.document, message);
  if (!incoming) {
    SendError(incoming.error());
  } else if (auto* request = std::get_if<rpc::Request>(&*incoming)) {
    OnRequest(std::move(*request), message.size());
  } else {
    OnNotification(std::get<rpc::Notification>(*incoming));
  }
  context_.document.Clear();
  context_.heap.Note(message.size());
  AdjustReading();
}

void Connection::OnRequest(rpc::Request request, size_t size) {
  ++inflight_;
  inflight_bytes_ += size;
  rpc::PendingReply reply(weak_from_this(), std::move(request.id), size, PermitFor(size));
  if (request.method == "initialize") return Initialize(request.params, std::move(reply));
  const Methods::Prepare* prepare = context_.methods.Find(request.method);
  if (prepare == nullptr) {
    return reply.Fail({ErrorKind::kUnknownMethod, fmt::format("unknown method {}", request.method)});
  }
  auto call = (*prepare)(request.params);
  if (!call) return reply.Fail(call.error());
  if (auto ready = CheckReady(request.method); !ready) return reply.Fail(ready.error());
  (*call)(*session_, std::move(reply));
}

// Returns a permit for the bytes of the request. The request is in memory already, so its bytes are counted even if the
// budget has no room for them.
loop::ByteBudget::Permit Connection::PermitFor(size_t request_bytes) {
  if (inflight_bytes_ <= kFreeInflightBytes) return {};
  auto permit = context_.held.Open([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnReclaim();
  });
  permit.Resize(request_bytes);
  return permit;
}

void Connection::OnReclaim() {
  if (closed_) return;
  LogWarn("connection.reclaimed", {{"peer", transport_->peer()}, {"inflight_bytes", inflight_bytes_}});
  transport_->Close();
}

void Connection::OnNotification(const rpc::Notification& notification) {
  if (notification.method != "initialized") {
    return SendError({ErrorKind::kInvalidRequest, fmt::format("unexpected notification {}", notification.method)});
  }
  if (phase_ == Phase::kFresh) {
    return SendError({ErrorKind::kInvalidRequest, "initialized came before initialize was answered"});
  }
  phase_ = Phase::kReady;
}

void Connection::Initialize(wire::Json json, rpc::PendingReply reply) {
  auto params = wire::Decode<wire::InitializeParams>(json);
  if (!params) return reply.Fail(params.error());
  if (phase_ != Phase::kFresh) return reply.Fail({ErrorKind::kInvalidRequest, "initialize was answered already"});
  auto result = OpenSession(*params);
  if (!result) return reply.Fail(result.error());
  phase_ = Phase::kInitialized;
  reply.Succeed(*std::move(result));
}

Result<wire::InitializeResult> Connection::OpenSession(const wire::InitializeParams& params) {
  TRY(session_,
      params.resume_session_id ? context_.sessions.Resume(*params.resume_session_id) : context_.sessions.Create());
  session_->Attach(*transport_, TraitsOf(params));
  LogInfo(params.resume_session_id ? "session.resumed" : "session.opened",
          {{"session", session_->id()}, {"client", params.client_name}, {"peer", transport_->peer()}});
  return wire::InitializeResult{session_->id(), context_.environment_info};
}

Result<> Connection::CheckReady(std::string_view method) const {
  if (phase_ == Phase::kReady) return {};
  const char* missing = phase_ == Phase::kFresh ? "initialize" : "initialized";
  return Fail(ErrorKind::kInvalidRequest, fmt::format("{} needs {} first", method, missing));
}

void Connection::Answer(std::string message, size_t cost) {
  --inflight_;
  inflight_bytes_ -= cost;
  if (closed_) return;
  const size_t size = message.size();
  context_.heap.Note(size);
  transport_->Send(std::move(message));
  if (transport_->congested()) {
    unsent_.Resize(unsent_.bytes() + size);
    if (session_) session_->files().OnCongested();
  }
  AdjustReading();
}

void Connection::SendError(const Error& error) {
  LogDebug("message.refused", {{"peer", transport_->peer()}, {"reason", error.message}});
  transport_->Send(rpc::ErrorMessage(rpc::kNoRequest, error));
}

// Stops reading from a client that sends requests faster than the server answers them, or that does not read its
// answers, and reads again when both are over.
void Connection::AdjustReading() {
  const Config& config = context_.config;
  bool full = inflight_ >= config.max_inflight || inflight_bytes_ >= config.max_message_bytes;
  rpc::Reading wanted = full || transport_->congested() ? rpc::Reading::kOff : rpc::Reading::kOn;
  if (wanted == reading_ || closed_) return;
  reading_ = wanted;
  transport_->SetReading(wanted);
}

void Connection::OnDrained() {
  unsent_.Resize(0);
  if (session_) session_->OnDrained();
  AdjustReading();
}

void Connection::OnClosed() {
  closed_ = true;
  unsent_.Resize(0);
  if (session_) context_.sessions.Detach(*session_);
  session_.reset();
  on_end_(*this);
}

}  // namespace holdfast::exec_server
