// This function decides what to do with an HTTP request to the server: upgrade it to a WebSocket, or answer it. It does
// no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "transport/authorizer.h"
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

// `head` is a request up to and including the empty line, and `socket` the connection that it came by. If the
// authorizer has a secret, the path of a request is `/SECRET` and then that of the route; a path without the secret is
// answered with 401. A request for a route that exists, and is not for everyone, is then shown to the authorizer.
HttpDecision DecideHttpRequest(std::string_view head, const HttpRoutes& routes, const Authorizer& authorizer,
                               int socket);

HttpAnswer AnswerHeadTooLong();
HttpAnswer AnswerServerFull();

}  // namespace holdfast::transport
