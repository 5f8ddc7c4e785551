#include "exec_server/http/http_exchange.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "wire/notification.h"

namespace holdfast::exec_server {
namespace {

// A body up to this length is not counted in the budget; the limit on the number of requests bounds them.
constexpr size_t kFreeBytes = 16u << 10;

// The memory that libcurl and the exchange use for a request under way, apart from its bodies.
constexpr size_t kBaseBytes = 320u << 10;

wire::HttpRequestResult ToWire(http::Response response, std::string_view body) {
  wire::HttpRequestResult result;
  result.status = response.status;
  for (http::Header& header : response.headers) {
    result.headers.push_back({std::move(header.name), std::move(header.value)});
  }
  result.body = {body};
  return result;
}

}  // namespace

Error HttpExchange::NoRoom() {
  return {ErrorKind::kLimit, "http/request: the server has no memory left for this request (max_held_bytes)"};
}

HttpExchange::HttpExchange(rpc::Transport& transport, loop::ByteBudget& budget, std::string request_id,
                           Delivery delivery, size_t max_body_bytes, ResponseReply reply)
    : transport_(transport),
      request_id_(std::move(request_id)),
      delivery_(delivery),
      max_body_bytes_(max_body_bytes),
      reply_(std::move(reply)),
      room_(budget.Open([this] { Refuse(NoRoom()); })),
      request_(budget.Open()) {}

void HttpExchange::Start(http::Client& client, http::Request request, loop::Callback on_end) {
  on_end_ = std::move(on_end);
  if (delivery_ == Delivery::kStreamed && request.body) request_.Resize(request.body->size());
  exchange_ = client.Start(std::move(request), *this);
}

void HttpExchange::OnResponse(http::Response response) {
  if (delivery_ == Delivery::kWhole) {
    response_ = std::move(response);
    return;
  }
  (*reply_)(ToWire(std::move(response), ""));
  reply_.reset();
}

// Passes a piece of the body on. If the client does not read it, the exchange pauses, so that the HTTP server has to
// wait and the body does not pile up in memory.
void HttpExchange::OnBody(std::string_view bytes) {
  if (delivery_ == Delivery::kStreamed) {
    SendDelta(bytes, nullptr);
    if (transport_.congested()) exchange_->Pause();
    return;
  }
  if (body_.size() + bytes.size() > max_body_bytes_) {
    return Refuse({ErrorKind::kSystem,
                   fmt::format("http/request: the body is longer than {} bytes; set streamResponse to get it in pieces",
                               max_body_bytes_)});
  }
  if (!MakeRoom(bytes.size())) return Refuse(NoRoom());
  body_ += bytes;
}

bool HttpExchange::TakeBaseRoom() {
  if (!room_.TryResize(kBaseBytes)) return false;
  base_bytes_ = kBaseBytes;
  return true;
}

// Counts the memory that body_ will have after `more` bytes are appended. A string that must grow doubles its capacity.
bool HttpExchange::MakeRoom(size_t more) {
  const size_t needed = body_.size() + more;
  if (needed <= body_.capacity() || needed <= kFreeBytes) return true;
  return room_.TryResize(base_bytes_ + std::max(needed, 2 * body_.capacity()));
}

void HttpExchange::Refuse(const Error& error) { OnEnd(std::unexpected(error)); }

void HttpExchange::OnEnd(const Result<>& outcome) {
  if (!reply_) {
    SendDelta("", &outcome);
  } else if (outcome) {
    (*reply_)(ToWire(std::move(response_), body_));
  } else {
    reply_->Fail(outcome.error());
  }
  End();
}

void HttpExchange::SendDelta(std::string_view bytes, const Result<>* outcome) {
  std::optional<std::string> error;
  if (outcome != nullptr && !*outcome) error = outcome->error().message;
  const auto part = outcome != nullptr ? wire::BodyPart::kLast : wire::BodyPart::kMore;
  transport_.Send(wire::BodyDeltaNotification(request_id_, next_seq_++, bytes, part, error));
}

void HttpExchange::End() {
  loop::Callback on_end = std::move(on_end_);  // moved out first, because the call destroys the exchange
  on_end();
}

}  // namespace holdfast::exec_server
