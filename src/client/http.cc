#include "client/http.h"

#include <span>
#include <utility>

#include "base/base64.h"
#include "base/random_id.h"
#include "client/http_bodies.h"
#include "client/session.h"

namespace holdfast::client {
namespace {

wire::HttpRequest::Params ParamsOf(HttpRequest request, std::string_view body_base64) {
  wire::HttpRequest::Params params;
  params.request_id = RandomUuid();
  params.method = std::move(request.method);
  params.url = std::move(request.url);
  params.headers = std::move(request.headers);
  if (!body_base64.empty()) params.body_base64 = body_base64;
  if (request.timeout) params.timeout_ms = static_cast<uint64_t>(request.timeout->count());
  if (request.redirects != wire::RedirectPolicy::kFollow) params.redirect_policy = request.redirects;
  return params;
}

// The server's own limit has to pass first, so that its answer comes.
CallOptions OptionsOf(const Session& session, const HttpRequest& request) {
  const auto usual = session.TimeoutOf({});
  return {.timeout = request.timeout ? *request.timeout + usual : usual};
}

HttpResponse ResponseOf(wire::HttpRequestResult result) {
  return {.status = result.status, .headers = std::move(result.headers), .body = std::move(result.body).Take()};
}

// The body of a request, which its params have a view of.
std::string BodyOf(const HttpRequest& request) { return Base64Encode(std::as_bytes(std::span(request.body))); }

loop::Task<Result<HttpResponse>> RequestOn(std::shared_ptr<Session> session, HttpRequest request) {
  const CallOptions options = OptionsOf(*session, request);
  const std::string body = BodyOf(request);
  auto answer = co_await session->Call<wire::HttpRequest>(ParamsOf(std::move(request), body), options);
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return ResponseOf(*std::move(answer));
}

loop::Task<Result<HttpStream>> StreamOn(std::shared_ptr<Session> session, HttpRequest request) {
  const CallOptions options = OptionsOf(*session, request);
  const std::string body = BodyOf(request);
  auto params = ParamsOf(std::move(request), body);
  params.stream_response = true;
  auto pieces = session->http_bodies().Expect(params.request_id);
  auto answer = co_await session->Call<wire::HttpRequest>(std::move(params), options);
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return HttpStream(session, ResponseOf(*std::move(answer)), std::move(pieces));
}

}  // namespace

// These are not tasks themselves: a task would use the Http object when it begins, and the object may be gone by then.
loop::Task<Result<HttpResponse>> Http::Request(HttpRequest request) { return RequestOn(session_, std::move(request)); }
loop::Task<Result<HttpStream>> Http::Stream(HttpRequest request) { return StreamOn(session_, std::move(request)); }

HttpStream::HttpStream(std::shared_ptr<Session> session, HttpResponse head, std::shared_ptr<HttpBody> body)
    : session_(std::move(session)), head_(std::move(head)), body_(std::move(body)) {}
HttpStream::HttpStream(HttpStream&&) noexcept = default;
HttpStream::~HttpStream() {
  if (!body_) return;
  body_.reset();
  session_->AdjustReading();
}

loop::Task<Result<std::optional<std::string>>> HttpStream::Next() {
  const auto session = session_;
  const auto body = body_;
  while (body->pieces.empty() && !body->done) co_await body->changed.Next();
  if (body->pieces.empty()) {
    if (body->error) co_return std::unexpected(*body->error);
    co_return std::optional<std::string>();
  }
  std::optional<std::string> piece = std::move(body->pieces.front());
  body->pieces.pop_front();
  body->queued_bytes -= piece->size();
  session->AdjustReading();
  co_return std::move(piece);
}

}  // namespace holdfast::client
