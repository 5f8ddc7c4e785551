#include "rpc/peer.h"

#include <variant>

#include <fmt/format.h>

#include "wire/json_text.h"

namespace holdfast::rpc {
namespace {

// The requests of one peer need no permit from the budget while they have no more bytes than this together.
constexpr size_t kFreeInflightBytes = 64u << 10;

}  // namespace

Peer::Peer(const PeerContext& context, const PeerOptions& options, std::shared_ptr<Transport> transport, Host& host)
    : context_(context),
      options_(options),
      transport_(std::move(transport)),
      host_(host),
      calls_([this](std::string message) { Send(std::move(message)); },
             [this](int64_t id) {
               if (!closed_) host_.OnCallForgotten(id);
             }),
      unsent_(context.held.Open([this] { OnReclaim(); })) {}

void Peer::OnMessage(std::string_view message) {
  const auto self = shared_from_this();  // a handler may end the conversation
  if (!host_.OnRawMessage(message)) Parse(message);
  if (closed_) return;
  host_.OnHandled(message.size());
  AdjustReading();
}

void Peer::Parse(std::string_view text) {
  const auto message = ParseMessage(context_.document, text);
  if (!message) {
    host_.OnUnreadable(message.error());
  } else if (const auto* request = std::get_if<Request>(&*message)) {
    OnRequest(*request, text.size());
  } else if (const auto* notification = std::get_if<Notification>(&*message)) {
    host_.OnNotification(*notification);
  } else {
    return OnResponse(std::get<Response>(*message));
  }
  context_.document.Clear();
}

void Peer::OnRequest(const Request& request, size_t size) {
  ++inflight_;
  inflight_bytes_ += size;
  PendingReply reply(weak_from_this(), request.id, size, PermitFor(size), options_.dialect);
  host_.OnRequest(request, std::move(reply));
}

// The task that waits for the response runs last, when the document is free again.
void Peer::OnResponse(const Response& response) {
  PendingCalls::Call* const call = calls_.Settle(response);
  if (call == nullptr && !calls_.WasIssued(response.id)) host_.OnStrayResponse(response);
  context_.document.Clear();
  if (call != nullptr) call->Wake();
}

// Returns a permit for the bytes of the request. The request is in memory already, so its bytes are counted even if the
// budget has no room for them.
loop::ByteBudget::Permit Peer::PermitFor(size_t request_bytes) {
  if (inflight_bytes_ <= kFreeInflightBytes) return {};
  auto permit = context_.held.Open([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnReclaim();
  });
  permit.Resize(request_bytes);
  return permit;
}

void Peer::OnReclaim() {
  if (closed_) return;
  host_.OnReclaimed(inflight_bytes_);
  transport_->Close();
}

loop::Task<Result<std::string>> Peer::CallText(std::string method, std::string params_json, Timeout timeout) {
  wire::Document document;  // not the shared one, which may have a message that is being handled
  const auto params = document.Parse(params_json);
  if (!params) co_return Fail(ErrorKind::kInvalidParams, "params: " + params.error().message);
  OutgoingCall outgoing{calls_.NextId(), std::move(method), {}};
  outgoing.message = BeginRequest(outgoing.id, outgoing.method, options_.dialect);
  wire::AppendJson(outgoing.message, *params);
  outgoing.message += '}';
  std::string result;
  auto decode = [&result](wire::Json json) -> Result<> {
    wire::AppendJson(result, json);
    return {};
  };
  PendingCalls::Call call(calls_, std::move(outgoing), std::move(decode));
  auto outcome = co_await call.Wait(context_.loop, timeout);
  if (!outcome) co_return std::unexpected(std::move(outcome).error());
  co_return std::move(result);
}

void Peer::Refuse(const Error& error) { Send(RefusalMessage(error, options_.dialect)); }

void Peer::Answer(std::string message, size_t cost) {
  EndRequest(cost);
  if (closed_) return;
  const size_t size = message.size();
  host_.OnHandled(size);
  transport_->Send(std::move(message));
  if (transport_->congested()) {
    unsent_.Resize(unsent_.bytes() + size);
    host_.OnCongested();
  }
  AdjustReading();
}

void Peer::Withdraw(size_t cost) {
  EndRequest(cost);
  AdjustReading();
}

void Peer::EndRequest(size_t cost) {
  --inflight_;
  inflight_bytes_ -= cost;
}

void Peer::SetReading(Reading wanted) {
  wanted_ = wanted;
  AdjustReading();
}

// Stops reading from a peer that sends requests faster than they are answered, or that does not read its answers, and
// reads again when both are over.
void Peer::AdjustReading() {
  const bool full = inflight_ >= options_.max_inflight || inflight_bytes_ >= options_.max_inflight_bytes;
  const bool stuck = options_.when_congested == WhenCongested::kStopReading && transport_->congested();
  const Reading reading = full || stuck ? Reading::kOff : wanted_;
  if (reading == reading_ || closed_) return;
  reading_ = reading;
  transport_->SetReading(reading);
}

void Peer::OnDrained() {
  unsent_.Resize(0);
  host_.OnDrained();
  AdjustReading();
}

void Peer::OnClosed() {
  const auto self = shared_from_this();
  closed_ = true;
  unsent_.Resize(0);
  calls_.FailAll({ErrorKind::kDisconnected, fmt::format("the connection to {} has ended", remote_name())});
  host_.OnClosed();
}

}  // namespace holdfast::rpc
