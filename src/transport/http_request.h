// This function decides what to do with an HTTP request to the server: upgrade it to a WebSocket, or answer it. It does
// no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "transport/http_routes.h"

namespace holdfast::transport {

inline constexpr size_t kMaxHttpHeadBytes = 8u << 10;

struct Upgrade {
  std::string key;  // the Sec-WebSocket-Key
};

// A complete HTTP response, after which the server closes the connection.
struct HttpAnswer {
  std::string bytes;
};

using HttpDecision = std::variant<Upgrade, HttpAnswer>;

// `head` is a request up to and including the empty line. If there is a `secret`, the path of a request is `/SECRET`
// and then that of the route; a path without the secret is answered with 401, unless it is that of a route for
// everyone.
HttpDecision DecideHttpRequest(std::string_view head, const HttpRoutes& routes, std::string_view secret = "");

HttpAnswer AnswerHeadTooLong();
HttpAnswer AnswerServerFull();
HttpAnswer AnswerNotAdmitted();

}  // namespace holdfast::transport
