// The proxies that a client uses, as the environment names them, and the way through one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/event.h"
#include "loop/task.h"
#include "transport/dial_url.h"

namespace holdfast::transport {

// The values of the usual variables. An empty one counts as not set.
struct ProxySettings {
  std::string http = {};   // for ws: HTTP_PROXY
  std::string https = {};  // for wss: HTTPS_PROXY
  std::string all = {};    // for both, if theirs is not set: ALL_PROXY
  // NO_PROXY: hosts without a proxy, separated by commas. `example.org` and `.example.org` also stand for the hosts of
  // that domain, an entry may end in a port, and `*` stands for all hosts.
  std::string none = {};
};

// Reads the variables. The spelling in small letters comes first. HTTP_PROXY in capitals is ignored in a CGI program,
// where the sender of a request chooses it.
ProxySettings ProxiesFromEnvironment();

struct Proxy {
  std::string host;
  uint16_t port = 0;
  std::string credentials = {};  // USER:PASSWORD; empty if the proxy asks for none

  friend bool operator==(const Proxy&, const Proxy&) = default;
};

// Returns the proxy for a server, and nothing if the server is to be reached directly, as loopback addresses always
// are. Fails if the proxy is not written as [http://][USER:PASSWORD@]HOST[:PORT].
Result<std::optional<Proxy>> ProxyFor(const ProxySettings& settings, const WebSocketServer& server);

// Asks a proxy, to which `socket` is connected, for a tunnel to the server. Fails with the reason only, such as "the
// proxy at HOST:PORT refused: 407 Proxy Authentication Required".
loop::Task<Result<>> OpenTunnel(loop::EventLoop& loop, int socket, Proxy proxy, WebSocketServer server,
                                loop::Deadline& deadline);

// Reads the answer of a proxy as far as it has arrived. Returns the status line when the head is complete, and nothing
// before that. Fails if it is not the head of an HTTP response, or if bytes follow it, which belong to no one.
Result<std::optional<std::string>> StatusLineOf(std::string_view answer);

}  // namespace holdfast::transport
