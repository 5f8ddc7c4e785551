// Outgoing HTTP by libcurl, on the loop. The library is loaded at the first request, not with the program: it brings
// some thirty others along, and most servers never need it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/request.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"

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

struct ClientOptions {
  std::string library = "libcurl.so.4";
  std::chrono::milliseconds idle_time{60'000};  // after which connections nobody uses are closed
};

class Client {
 public:
  // `workers` loads the library.
  Client(loop::EventLoop& loop, loop::WorkerPool& workers, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `request` has passed CheckRequest. The observer is never called from inside Start. The client outlives its
  // exchanges.
  std::unique_ptr<Exchange> Start(Request request, ExchangeObserver& observer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::http
