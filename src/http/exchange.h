// An exchange is an HTTP request under way and its response, as seen by the code that started it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/request.h"

namespace holdfast::http {

struct Response {
  uint16_t status = 0;
  std::vector<Header> headers;  // in the order of arrival, with repeated ones; names in lower case, values any bytes
};

// The observer is called on the loop: OnResponse once, OnBody any number of times, then OnEnd. If there is no response,
// only OnEnd is called. Each call may destroy the exchange.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  virtual void OnResponse(Response response) = 0;
  virtual void OnBody(std::string_view bytes) = 0;
  virtual void OnEnd(const Result<>& outcome) = 0;
};

// Destroying an exchange cancels it, and its observer is not called any more.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // While the exchange is paused no body arrives, and only a bounded amount is read from the server. OnEnd comes after
  // the body, except for a timeout, which ends the exchange even while it is paused.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
};

}  // namespace holdfast::http
