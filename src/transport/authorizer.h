// An Authorizer has the conditions that a peer must meet before it may use a route of a listener that is not for
// everyone.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::transport {

// The facts by which a peer can prove that it may use the listener.
struct Credentials {
  std::vector<std::string_view> authorization;  // the values of all Authorization headers of the request
  int socket;                                   // the connection, borrowed
};

// The answer to a peer that does not meet a condition.
struct HttpRefusal {
  enum class Status {
    kUnauthorized,     // 401, which asks for a bearer token
    kForbidden,        // 403
    kTooManyRequests,  // 429
  };

  Status status;
  std::string body;
  std::chrono::seconds retry_after{0};  // for kTooManyRequests
};

struct Authorizer {
  // The secret that is the beginning of the path of every request. If it is empty, no request needs a secret.
  std::string secret = {};

  // This function decides about each request that has the secret and is for such a route. It returns nothing for a peer
  // that is admitted. If it is absent, every peer is.
  std::function<std::optional<HttpRefusal>(const Credentials& credentials)> refuse = {};
};

}  // namespace holdfast::transport
