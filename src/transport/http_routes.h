// The paths that a listener answers over HTTP. The owner of the listener says which ones there are.
#pragma once

#include <string>
#include <vector>

namespace holdfast::transport {

struct HttpRoute {
  enum class Kind {
    kWebSocket,  // upgraded to a WebSocket
    kProbe,      // answered with 200 and an empty body
  };
  enum class Access { kAuthorized, kEveryone };
  // A web page can make a browser connect to loopback, but not without an Origin header.
  enum class Origin { kRefused, kAllowed };

  std::string path;  // without the secret of the Authorizer; `/` for the secret alone
  Kind kind;
  Access access = Access::kAuthorized;
  Origin origin = Origin::kRefused;
};

using HttpRoutes = std::vector<HttpRoute>;

}  // namespace holdfast::transport
