// The service behind http/request, which makes HTTP requests from the machine of the server, for clients in another
// network.
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
    process::Environment environment;  // the server's, for headers that name a variable
    std::string cwd;                   // the server's, for a sandbox whose request names no directory
    size_t max_body_bytes;
  };

  // The bodies of responses are counted in `budget`.
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
