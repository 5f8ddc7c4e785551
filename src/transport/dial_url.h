// The URL of a server that a client connects to: ws://HOST:PORT[/PATH], wss://HOST:PORT[/PATH] or unix:///path.sock. A
// WebSocket may also be written with http or https, as the URL of an executor of a rendezvous is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "transport/security.h"

namespace holdfast::transport {

struct WebSocketServer {
  Security security = Security::kPlain;
  std::string host;  // a name or a literal address, without brackets
  uint16_t port = 0;
  std::string target = "/";  // the path and the query

  friend bool operator==(const WebSocketServer&, const WebSocketServer&) = default;
};

// A server on a unix socket, to which the client speaks one JSON message per line.
struct UnixServer {
  std::string path;  // absolute

  friend bool operator==(const UnixServer&, const UnixServer&) = default;
};

using ServerUrl = std::variant<WebSocketServer, UnixServer>;

// A URL without a port means port 80, or 443 with wss and https.
Result<ServerUrl> ParseServerUrl(std::string_view text);

// Returns the name of the server in messages: HOST:PORT or the path of its socket. The path of a WebSocket is left out,
// because it may be a secret.
std::string NameOf(const ServerUrl& url);

// Returns whether a host is a loopback address or a name of one.
bool IsOnThisMachine(std::string_view host);

// Returns whether machines on the way to the server can read what is sent to it.
bool IsReadableOnTheWay(const ServerUrl& url);

}  // namespace holdfast::transport
