// An HttpExchange is one http/request under way. It collects the response and answers with the whole of it, or it
// answers with the head and passes the body on to the client piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/client.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "rpc/reply.h"
#include "rpc/transport.h"
#include "wire/http_messages.h"

namespace holdfast::exec_server {

enum class Delivery { kWhole, kStreamed };

class HttpExchange final : public http::ExchangeObserver {
 public:
  using ResponseReply = rpc::Reply<wire::HttpRequestResult>;

  // A body that is delivered whole has at most `max_body_bytes`, and its memory is counted in `budget`. A streamed body
  // may have any length.
  HttpExchange(rpc::Transport& transport, loop::ByteBudget& budget, std::string request_id, Delivery delivery,
               size_t max_body_bytes, ResponseReply reply);

  // Counts the memory of the exchange itself in the budget, and returns false if the budget has no room. Called before
  // Start, for a connection with many requests under way.
  bool TakeBaseRoom();
  static Error NoRoom();

  // Calls `on_end` as the last thing that the exchange does; it may destroy the exchange.
  void Start(http::Client& client, http::Request request, loop::Callback on_end);
  void Resume() { exchange_->Resume(); }
  // Answers with an error. Called instead of Start.
  void Fail(const Error& error) { reply_->Fail(error); }

  const std::string& request_id() const { return request_id_; }
  Delivery delivery() const { return delivery_; }

 private:
  void OnResponse(http::Response response) override;
  void OnBody(std::string_view bytes) override;
  void OnEnd(const Result<>& outcome) override;

  bool MakeRoom(size_t more);
  void Refuse(const Error& error);
  void SendDelta(std::string_view bytes, const Result<>* outcome);
  void End();

  rpc::Transport& transport_;
  const std::string request_id_;
  const Delivery delivery_;
  const size_t max_body_bytes_;
  std::optional<ResponseReply> reply_;  // empty once the request is answered
  loop::Callback on_end_;
  http::Response response_;
  std::string body_;                  // the response so far, if it is delivered whole
  size_t base_bytes_ = 0;             // the part of room_ that is for the exchange itself
  loop::ByteBudget::Permit room_;     // counts body_, and base_bytes_
  loop::ByteBudget::Permit request_;  // counts the request's body, which a streamed exchange keeps after its answer
  uint64_t next_seq_ = 1;
  std::unique_ptr<http::Exchange> exchange_;
};

}  // namespace holdfast::exec_server
