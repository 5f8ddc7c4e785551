// One http/request on its way: collects the response, or passes it on piece by piece.
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

  // A whole body is at most `max_body_bytes` long, and has its room from `budget`; a streamed one has no end that we
  // know.
  HttpExchange(rpc::Transport& transport, loop::ByteBudget& budget, std::string request_id, Delivery delivery,
               size_t max_body_bytes, ResponseReply reply);

  // For a connection that has many requests open: false if the budget has no room for one more. Before Start.
  bool TakeBaseRoom();
  static Error NoRoom();

  // `on_end` runs last and may destroy this.
  void Start(http::Client& client, http::Request request, loop::Callback on_end);
  void Resume() { exchange_->Resume(); }
  // Instead of Start.
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
  std::optional<ResponseReply> reply_;  // until it is answered
  loop::Callback on_end_;
  http::Response response_;
  std::string body_;                  // of a whole delivery
  size_t base_bytes_ = 0;             // of room_, beside body_
  loop::ByteBudget::Permit room_;     // for body_
  loop::ByteBudget::Permit request_;  // for the body of a request that is answered before it is over
  uint64_t next_seq_ = 1;
  std::unique_ptr<http::Exchange> exchange_;
};

}  // namespace holdfast::exec_server
