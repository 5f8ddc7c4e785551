// The HTTP requests a connection has under way. They are cancelled with it.
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
  static constexpr size_t kFreeExchanges = 4;  // further ones draw from the budget

  HttpExchanges(rpc::Transport& transport, const ClientTraits& client) : transport_(transport), client_(client) {}

  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }

  // Whether one more fits; a streamed one must have an id of its own.
  Result<> CheckRoom(const std::string& request_id, Delivery delivery) const;

  // Gives the exchange its end: it is removed from here.
  void Start(http::Client& client, http::Request request, std::unique_ptr<HttpExchange> exchange);

  // The transport has room again.
  void ResumeAll();

 private:
  rpc::Transport& transport_;
  const ClientTraits client_;
  std::list<std::unique_ptr<HttpExchange>> exchanges_;
};

}  // namespace holdfast::exec_server
