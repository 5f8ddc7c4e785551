// http/request: HTTP from where the server runs, for clients whose own network is elsewhere.
#pragma once

#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "http/client.h"
#include "rpc/reply.h"
#include "wire/http_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class HttpService {
 public:
  explicit HttpService(Runtime& runtime) : runtime_(runtime), client_(runtime.loop, runtime.workers) {}

  void Request(Session& session, const wire::Sandboxed<wire::HttpRequestParams>& params,
               rpc::Reply<wire::HttpRequestResult> reply);

 private:
  Result<http::Request> Resolve(const wire::HttpRequestParams& params) const;

  Runtime& runtime_;
  http::Client client_;
};

}  // namespace holdfast::exec_server
