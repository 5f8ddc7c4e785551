// A request under way and its response, as the code that asked for it sees them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/request.h"

namespace holdfast::http {

struct Response {
  uint16_t status = 0;
  std::vector<Header> headers;  // as they came, repeated ones included; names in lower case, values any bytes
};

// Told on the loop: OnResponse, then OnBody any number of times, then OnEnd. OnEnd alone when there is no response.
// Each may destroy the exchange.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  virtual void OnResponse(Response response) = 0;
  virtual void OnBody(std::string_view bytes) = 0;
  virtual void OnEnd(const Result<>& outcome) = 0;
};

// A request under way. Destroying it cancels it, and nothing is told any more.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // While paused no body arrives, and the server is read no further than a bounded amount. OnEnd comes after the body,
  // but for a timeout, which waits for nobody.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
};

}  // namespace holdfast::http
