// HTTP requests that the server makes on behalf of the client. Everything happens on the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/connect_options.h"
#include "loop/task.h"
#include "wire/http_messages.h"

namespace holdfast::client {

class Session;
struct HttpBody;

struct HttpRequest {
  std::string method = "GET", url;
  std::vector<wire::HttpRequestHeader> headers = {};
  std::string body = {};
  std::optional<std::chrono::milliseconds> timeout = {};
  wire::RedirectPolicy redirects = wire::RedirectPolicy::kFollow;
};

struct HttpResponse {
  uint64_t status = 0;
  std::vector<wire::HttpHeader> headers = {};
  std::string body = {};  // empty for a stream
};

// A response whose body arrives in pieces. While too many of them have not been taken, the connection is not read. The
// server goes on sending when the stream is destroyed, and the rest of the body is dropped.
class HttpStream {
 public:
  HttpStream(std::shared_ptr<Session> session, HttpResponse head, std::shared_ptr<HttpBody> body);
  HttpStream(HttpStream&&) noexcept;
  ~HttpStream();

  const HttpResponse& head() const { return head_; }
  // Returns the next piece of the body, and nothing at its end. A stream does not survive the loss of a connection.
  loop::Task<Result<std::optional<std::string>>> Next();

 private:
  std::shared_ptr<Session> session_;
  HttpResponse head_;
  std::shared_ptr<HttpBody> body_;
};

class Http {
 public:
  explicit Http(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  loop::Task<Result<HttpResponse>> Request(HttpRequest request);
  loop::Task<Result<HttpStream>> Stream(HttpRequest request);

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace holdfast::client
