// Outgoing HTTP by libcurl, on the loop. The library is loaded at the first request, not with the program: it brings
// some thirty others along, and most servers never need it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "http/exchange.h"
#include "http/request.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"

namespace holdfast::http {

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
