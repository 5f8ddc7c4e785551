// The HTTP requests that a connection has under way. They are cancelled when the connection ends.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "exec_server/http/http_exchange.h"
#include "exec_server/link/client_link.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class HttpExchanges {
 public:
  static constexpr size_t kMaxExchanges = 256;
  static constexpr size_t kFreeExchanges = 4;  // further ones are counted in the budget

  HttpExchanges(rpc::Transport& transport, const ClientTraits& client) : transport_(transport), client_(client) {}

  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }

  // Fails if the connection has too many requests under way, or if the response is to be streamed under an id that
  // another streamed response has.
  Result<> CheckRoom(const std::string& request_id, Delivery delivery) const;

  // Starts the exchange and owns it until it ends.
  void Start(http::Client& client, http::Request request, std::unique_ptr<HttpExchange> exchange);

  // Continues the exchanges that paused because the client did not read. Called when the transport has room again.
  void ResumeAll();

 private:
  rpc::Transport& transport_;
  const ClientTraits client_;
  std::list<std::unique_ptr<HttpExchange>> exchanges_;
};

}  // namespace holdfast::exec_server
