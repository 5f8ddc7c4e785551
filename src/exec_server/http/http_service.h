// http/request: HTTP from where the server runs, for clients whose own network is elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "exec_server/http/http_exchanges.h"
#include "http/client.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/command/environment.h"
#include "rpc/reply.h"
#include "wire/http_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class HttpService {
 public:
  struct Surroundings {
    process::Environment environment;  // of the server, for headers that name a variable
    std::string cwd;                   // of the server: the base of a sandbox whose request names no directory
    size_t max_body_bytes;
  };

  // `budget` has room for the bodies of responses.
  HttpService(loop::EventLoop& loop, loop::WorkerPool& workers, loop::ByteBudget& budget, Surroundings surroundings)
      : client_(loop, workers), budget_(budget), surroundings_(std::move(surroundings)) {}

  void Request(HttpExchanges& exchanges, const wire::Sandboxed<wire::HttpRequestParams>& params,
               rpc::Reply<wire::HttpRequestResult> reply);

 private:
  Result<http::Request> Resolve(const wire::HttpRequestParams& params) const;

  http::Client client_;
  loop::ByteBudget& budget_;
  const Surroundings surroundings_;
};

}  // namespace holdfast::exec_server
