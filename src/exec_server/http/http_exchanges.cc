#include "exec_server/http/http_exchanges.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace holdfast::exec_server {

Result<> HttpExchanges::CheckRoom(const std::string& request_id, Delivery delivery) const {
  auto is_taken = [&](const auto& exchange) {
    return exchange->delivery() == Delivery::kStreamed && exchange->request_id() == request_id;
  };
  if (delivery == Delivery::kStreamed && std::ranges::any_of(exchanges_, is_taken)) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("requestId: {} is being streamed already", request_id));
  }
  if (exchanges_.size() >= kMaxExchanges) {
    return Fail(ErrorKind::kLimit,
                fmt::format("the limit of {} HTTP requests per connection is reached", kMaxExchanges));
  }
  return {};
}

void HttpExchanges::Start(http::Client& client, http::Request request, std::unique_ptr<HttpExchange> exchange) {
  if (exchanges_.size() >= kFreeExchanges && !exchange->TakeBaseRoom()) return exchange->Fail(HttpExchange::NoRoom());
  const auto place = exchanges_.insert(exchanges_.end(), std::move(exchange));
  (*place)->Start(client, std::move(request), [this, place] { exchanges_.erase(place); });
}

void HttpExchanges::ResumeAll() {
  for (auto& exchange : exchanges_) exchange->Resume();
}

}  // namespace holdfast::exec_server
