// A Client makes outgoing HTTP requests with libcurl, on the loop. It loads the library at the first request and not
// with the program, because libcurl brings some thirty other libraries along and most servers never need it.
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
  std::chrono::milliseconds idle_time{60'000};  // connections that are unused for this long are closed
};

class Client {
 public:
  // A worker of `workers` loads the library.
  Client(loop::EventLoop& loop, loop::WorkerPool& workers, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Starts a request that has passed CheckRequest. The observer is never called from inside Start. The client must
  // outlive its exchanges.
  std::unique_ptr<Exchange> Start(Request request, ExchangeObserver& observer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::http
