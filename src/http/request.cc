#include "http/request.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "http/syntax.h"
#include "http/url.h"

namespace holdfast::http {
namespace {

// Headers that a client and a server agree on for one connection. A caller must not set them: a proxy or a server that
// interprets such a header differently could be made to see a second, smuggled request.
constexpr std::array<std::string_view, 9> kConnectionHeaders = {
    "connection",        "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade"};

std::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorKind::kInvalidParams, "http/request " + std::move(message));
}

size_t BodyBytes(const Request& request) { return request.body ? request.body->size() : 0; }

Result<> CheckMethod(const Request& request) {
  if (!IsToken(request.method)) return Invalid("method is invalid: invalid HTTP method");
  // CONNECT asks for a tunnel, and a tunnel has no response.
  if (request.method == "CONNECT") return Invalid("method is invalid: CONNECT is not supported");
  // A body of HEAD has no meaning, and the library does not send it.
  if (request.method == "HEAD" && BodyBytes(request) > 0) return Invalid("body is invalid: HEAD must not have a body");
  return {};
}

Result<> CheckUrl(std::string_view url) {
  const auto parsed = ParseUrl(url);
  if (parsed) return {};
  if (parsed.error().kind == UrlFault::Kind::kInvalid) return Invalid("url is invalid: " + parsed.error().text);
  return Invalid("only supports http and https URLs, got " + parsed.error().text);
}

bool IsValueByte(char c) { return c == '\t' || !IsControl(c); }

// Messages show the names of headers but never their values.
Result<> CheckHeader(const Header& header, size_t body_bytes) {
  if (!IsToken(header.name)) return Invalid("header name is invalid: invalid HTTP header name");
  if (!std::ranges::all_of(header.value, IsValueByte)) {
    return Invalid(fmt::format("header value is invalid for {}: failed to parse header value", header.name));
  }
  const auto is_name = [&](std::string_view name) { return EqualsIgnoringCase(name, header.name); };
  if (std::ranges::any_of(kConnectionHeaders, is_name)) {
    return Invalid(fmt::format("header {} belongs to the connection and cannot be set", header.name));
  }
  if (is_name("content-length") && Trimmed(header.value) != std::to_string(body_bytes)) {
    return Invalid(fmt::format("header {} is not the length of the body", header.name));
  }
  return {};
}

}  // namespace

Result<> CheckRequest(const Request& request) {
  TRY_VOID(CheckMethod(request));
  TRY_VOID(CheckUrl(request.url));
  for (const auto* headers : {&request.headers, &request.secret_headers}) {
    for (const Header& header : *headers) TRY_VOID(CheckHeader(header, BodyBytes(request)));
  }
  return {};
}

}  // namespace holdfast::http
