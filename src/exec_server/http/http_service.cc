#include "exec_server/http/http_service.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::exec_server {
namespace {

constexpr uint64_t kLongestTimeoutMs = 24 * 60 * 60 * 1000;

Result<std::string> VariableFor(const wire::HttpRequestHeader& header, const process::Environment& environment) {
  for (const auto& [name, value] : environment) {
    if (name == *header.value_env_var && !value.empty()) return value;
  }
  return Fail(ErrorKind::kInvalidParams,
              fmt::format("header {}: the server's environment has no {}", header.name, *header.value_env_var));
}

// Returns the length of the longest body whose base64 fits into a message of `message_bytes`, besides headers of the
// usual size and the rest of the message.
size_t LongestBodyIn(size_t message_bytes) {
  constexpr size_t head_bytes = 64u << 10;
  return message_bytes < head_bytes ? 0 : (message_bytes - head_bytes) / 4 * 3;
}

}  // namespace

Result<http::Request> HttpService::Resolve(const wire::HttpRequestParams& params) const {
  http::Request request;
  request.method = params.method;
  request.url = params.url;
  for (const wire::HttpRequestHeader& header : params.headers) {
    if (!header.value_env_var) {
      request.headers.push_back({header.name, header.value});
      continue;
    }
    TRY(const std::string variable, VariableFor(header, surroundings_.environment));
    request.secret_headers.push_back({header.name, header.value + variable});
  }
  if (params.body_base64) {
    auto body = Base64Decode(*params.body_base64);
    if (!body) return Fail(ErrorKind::kInvalidParams, "bodyBase64: " + body.error().message);
    request.body = *std::move(body);
  }
  if (params.timeout_ms) request.timeout = std::chrono::milliseconds(std::min(*params.timeout_ms, kLongestTimeoutMs));
  const bool stop = params.redirect_policy == wire::RedirectPolicy::kStop;
  request.redirects = stop ? http::Redirects::kStop : http::Redirects::kFollow;
  TRY_VOID(http::CheckRequest(request));
  return request;
}

void HttpService::Request(HttpExchanges& exchanges, const wire::Sandboxed<wire::HttpRequestParams>& params,
                          rpc::Reply<wire::HttpRequestResult> reply) {
  if (auto allowed = sandbox::CheckNetworkAllowed(params.sandbox, surroundings_.cwd); !allowed) {
    return reply.Fail(allowed.error());
  }
  const Delivery delivery = params.stream_response ? Delivery::kStreamed : Delivery::kWhole;
  if (auto room = exchanges.CheckRoom(params.request_id, delivery); !room) return reply.Fail(room.error());
  auto request = Resolve(params);
  if (!request) return reply.Fail(request.error());
  const size_t client_bytes = LongestBodyIn(exchanges.client().max_message_bytes);
  const size_t max_body_bytes = std::min<size_t>(surroundings_.max_body_bytes, client_bytes);
  auto exchange = std::make_unique<HttpExchange>(exchanges.transport(), budget_, params.request_id, delivery,
                                                 max_body_bytes, std::move(reply));
  exchanges.Start(client_, *std::move(request), std::move(exchange));
}

}  // namespace holdfast::exec_server
