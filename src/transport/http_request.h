// The decision about an HTTP request to the server: it is upgraded to a WebSocket, answered, or left to the owner of
// the listener as a call. Nothing here does any I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "transport/authorizer.h"
#include "transport/http_call.h"
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

// The head of a request that the owner of the listener answers.
struct CallHead {
  HttpMessage message;  // without its body
  size_t body_bytes = 0;
  bool awaits_continue = false;     // the peer sends the body after an answer with the status 100
  std::string web_socket_key = {};  // empty if the request does not ask for a WebSocket in the right way
};

using HttpDecision = std::variant<Upgrade, HttpAnswer, CallHead>;

// The treatment of requests for a path that is not a route.
enum class OtherPaths { kNotFound, kCalls };

// `head` is a request up to and including the empty line, and `socket` the connection that it came by. If the
// authorizer has a secret, the path of a request is `/SECRET` and then that of the route; a path without the secret is
// answered with 401. A request for a route that exists, and is not for everyone, is then shown to the authorizer. The
// authorizer is not asked about calls.
HttpDecision DecideHttpRequest(std::string_view head, const HttpRoutes& routes, const Authorizer& authorizer,
                               int socket, OtherPaths other_paths = OtherPaths::kNotFound);

HttpAnswer AnswerHeadTooLong();
HttpAnswer AnswerServerFull();

// Tells the peer to send the body of its request.
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Returns the answer to a call. It has no body if the method of the call is HEAD.
HttpAnswer AnswerTo(const HttpMessage& request, const HttpResponse& response);

}  // namespace holdfast::transport
