#include "transport/http_request.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/parse_number.h"
#include "base/random_id.h"

namespace holdfast::transport {
namespace {

namespace http = boost::beast::http;
using Request = http::request<http::empty_body>;

constexpr size_t kKeyBytes = 24;  // 16 random bytes in base64

struct Status {
  std::string_view line;
  std::string_view body = "";
  std::string_view header = "";
  std::string_view content_type = "text/plain";
};

constexpr Status kOk{"200 OK"};
constexpr Status kMalformed{"400 Bad Request", "not an HTTP request\n"};
constexpr Status kNoUpgrade{"400 Bad Request", "this endpoint speaks WebSocket\n"};
constexpr Status kBadKey{"400 Bad Request", "Sec-WebSocket-Key is missing or not 24 characters\n"};
constexpr Status kUpgradeWithBody{"400 Bad Request", "a request for an upgrade has no body\n"};
constexpr Status kNoSecret{"401 Unauthorized", "the secret of the server's URL is missing or wrong\n",
                           "WWW-Authenticate: Url-Secret\r\n"};
constexpr Status kBrowser{"403 Forbidden", "requests with an Origin header are refused\n"};
constexpr Status kNoSuchPath{"404 Not Found", "no such path\n"};
constexpr Status kOnlyGetAndHead{"405 Method Not Allowed", "this path accepts only GET and HEAD\n",
                                 "Allow: GET, HEAD\r\n"};
constexpr Status kOnlyGet{"405 Method Not Allowed", "this path accepts only GET\n", "Allow: GET\r\n"};
constexpr Status kNoLength{"411 Length Required", "a request with a body needs a Content-Length\n"};
constexpr Status kBodyTooLong{"413 Content Too Large", "the request body is too long\n"};
constexpr Status kBadVersion{"426 Upgrade Required", "only WebSocket version 13 is supported\n",
                             "Sec-WebSocket-Version: 13\r\n"};
constexpr Status kHeadTooLong{"431 Request Header Fields Too Large", "the request head is too long\n"};
constexpr Status kServerFull{"503 Service Unavailable", "too many connections\n"};

enum class Body { kSent, kLeftOut };

// HEAD is answered with the headers of GET, which include the length of the body.
HttpAnswer Answer(const Status& status, Body body = Body::kSent) {
  const std::string type =
      status.body.empty() ? std::string() : fmt::format("Content-Type: {}\r\n", status.content_type);
  return {fmt::format("HTTP/1.1 {}\r\n{}{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", status.line,
                      status.header, type, status.body.size(), body == Body::kSent ? status.body : "")};
}

HttpAnswer AnswerRefusal(const HttpRefusal& refusal, Body body) {
  switch (refusal.status) {
    case HttpRefusal::Status::kUnauthorized:
      return Answer({"401 Unauthorized", refusal.body, "WWW-Authenticate: Bearer\r\n"}, body);
    case HttpRefusal::Status::kForbidden:
      return Answer({"403 Forbidden", refusal.body}, body);
    case HttpRefusal::Status::kTooManyRequests:
      break;
  }
  const std::string retry_after = fmt::format("Retry-After: {}\r\n", refusal.retry_after.count());
  return Answer({"429 Too Many Requests", refusal.body, retry_after}, body);
}

bool Parse(std::string_view head, Request& request) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMaxHttpHeadBytes);
  parser.body_limit(boost::none);  // the parser reads no body
  boost::system::error_code error;
  parser.put(boost::asio::buffer(head), error);
  if (error || !parser.is_header_done()) return false;
  request = parser.release();
  return true;
}

std::string_view PathOf(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  return target.substr(0, target.find('?'));
}

// Returns the part of a path after the secret: `/readyz` for `/SECRET/readyz`, and an empty text for `/SECRET`. Returns
// nothing if the path does not begin with the secret.
std::optional<std::string_view> BehindSecret(std::string_view path, std::string_view secret) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::string_view given = path.substr(0, path.find('/'));
  if (!IsSameSecret(given, secret)) return std::nullopt;
  return path.substr(given.size());
}

struct Destination {
  const HttpRoute* route = nullptr;  // null if there is none for the path
  bool lacks_secret = false;
};

const HttpRoute* Find(const HttpRoutes& routes, std::string_view path) {
  const auto found = std::ranges::find(routes, path, &HttpRoute::path);
  return found != routes.end() ? &*found : nullptr;
}

Destination DestinationOf(std::string_view path, const HttpRoutes& routes, std::string_view secret) {
  const HttpRoute* const route = Find(routes, path);
  if (secret.empty() || (route != nullptr && route->access == HttpRoute::Access::kEveryone)) return {.route = route};
  const auto rest = BehindSecret(path, secret);
  if (!rest) return {.lacks_secret = true};
  return {.route = Find(routes, rest->empty() ? "/" : *rest)};
}

bool IsRefusedBrowser(const Request& request, const HttpRoute* route) {
  if (request.count(http::field::origin) == 0) return false;
  return route == nullptr || route->origin == HttpRoute::Origin::kRefused;
}

std::optional<HttpRefusal> RefusalOf(const Request& request, const HttpRoute& route, const Authorizer& authorizer,
                                     int socket) {
  if (!authorizer.refuse || route.access == HttpRoute::Access::kEveryone) return std::nullopt;
  Credentials credentials{.authorization = {}, .socket = socket};
  const auto [first, last] = request.equal_range(http::field::authorization);
  for (auto header = first; header != last; ++header) {
    credentials.authorization.emplace_back(header->value().data(), header->value().size());
  }
  return authorizer.refuse(credentials);
}

Status DecideProbe(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head ? kOk : kOnlyGetAndHead;
}

bool HasBody(const Request& request) {
  const auto length = request[http::field::content_length];
  return request.count(http::field::transfer_encoding) > 0 || (!length.empty() && length != "0");
}

// The bytes of a body would be read as frames of the WebSocket, and something on the way may take them for a body.
HttpDecision DecideUpgrade(const Request& request, Body body) {
  if (request.method() != http::verb::get) return Answer(kOnlyGet, body);
  if (!boost::beast::websocket::is_upgrade(request)) return Answer(kNoUpgrade);
  if (request[http::field::sec_websocket_version] != "13") return Answer(kBadVersion);
  if (HasBody(request)) return Answer(kUpgradeWithBody);
  const auto key = request[http::field::sec_websocket_key];
  if (key.size() != kKeyBytes) return Answer(kBadKey);
  return Upgrade{std::string(key)};
}

// Returns nothing if the length is not one number. The parser accepts a list of equal ones.
std::optional<uint64_t> BodyBytes(const Request& request) {
  const auto length = request[http::field::content_length];
  if (length.empty()) return 0;
  return ParseNumber<uint64_t>(std::string_view(length.data(), length.size()));
}

// The sender of a request in HTTP/1.0 does not wait.
bool AwaitsContinue(const Request& request) {
  const auto expectation = request[http::field::expect];
  return request.version() >= 11 && boost::beast::iequals(expectation, "100-continue");
}

HttpMessage MessageOf(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  const std::string_view path = PathOf(request);
  HttpMessage message{.method = std::string(request.method_string()),
                      .path = std::string(path),
                      .query = std::string(target.substr(std::min(path.size() + 1, target.size()))),
                      .headers = {},
                      .body = {}};
  for (const auto& header : request) message.headers.emplace_back(header.name_string(), header.value());
  return message;
}

// A body whose length is not known in advance is refused: nothing that calls the owner of a listener needs one.
HttpDecision DecideCall(const Request& request, Body body) {
  if (request.count(http::field::transfer_encoding) > 0) return Answer(kNoLength, body);
  const auto body_bytes = BodyBytes(request);
  if (!body_bytes) return Answer(kMalformed, body);
  if (*body_bytes > kMaxHttpBodyBytes) return Answer(kBodyTooLong, body);
  CallHead call{.message = MessageOf(request),
                .body_bytes = static_cast<size_t>(*body_bytes),
                .awaits_continue = AwaitsContinue(request)};
  HttpDecision upgrade = DecideUpgrade(request, body);
  if (auto* agreed = std::get_if<Upgrade>(&upgrade)) call.web_socket_key = std::move(agreed->key);
  return call;
}

}  // namespace

// The Origin is checked before the secret: a web page does not learn whether it has guessed the secret.
HttpDecision DecideHttpRequest(std::string_view head, const HttpRoutes& routes, const Authorizer& authorizer,
                               int socket, OtherPaths other_paths) {
  Request request;
  if (!Parse(head, request)) return Answer(kMalformed);
  const Body body = request.method() == http::verb::head ? Body::kLeftOut : Body::kSent;
  const Destination destination = DestinationOf(PathOf(request), routes, authorizer.secret);
  if (IsRefusedBrowser(request, destination.route)) return Answer(kBrowser, body);
  if (destination.lacks_secret) return Answer(kNoSecret, body);
  if (destination.route == nullptr) {
    return other_paths == OtherPaths::kCalls ? DecideCall(request, body) : Answer(kNoSuchPath, body);
  }
  if (const auto refusal = RefusalOf(request, *destination.route, authorizer, socket)) {
    return AnswerRefusal(*refusal, body);
  }
  if (destination.route->kind == HttpRoute::Kind::kProbe) return Answer(DecideProbe(request), body);
  return DecideUpgrade(request, body);
}

HttpAnswer AnswerHeadTooLong() { return Answer(kHeadTooLong); }
HttpAnswer AnswerServerFull() { return Answer(kServerFull); }

HttpAnswer AnswerTo(const HttpMessage& request, const HttpResponse& response) {
  const std::string line = fmt::format("{} {}", response.status,
                                       std::string_view(http::obsolete_reason(http::int_to_status(response.status))));
  std::string headers;
  for (const auto& [name, value] : response.headers) headers += fmt::format("{}: {}\r\n", name, value);
  return Answer({line, response.body, headers, response.content_type},
                request.method == "HEAD" ? Body::kLeftOut : Body::kSent);
}

}  // namespace holdfast::transport
