#include "transport/dial.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sys/peer.h"
#include "transport/connect.h"
#include "transport/lines_connection.h"
#include "transport/peer_watch.h"
#include "transport/plain_stream.h"
#include "transport/tls_stream.h"
#include "transport/unix_place.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {
namespace {

using Dialled = Result<std::shared_ptr<rpc::Transport>>;

std::unexpected<Error> CannotReach(const ServerUrl& url, const Error& reason) {
  return Fail(reason.kind, fmt::format("cannot reach the server at {}: {}", NameOf(url), reason.message));
}

bool IsTokenCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool IsValueCharacter(char c) { return (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) || c == '\t'; }

// The value of a header may be a secret, so the message contains only its name.
Result<> CheckHeaders(const DialOptions& options) {
  for (const auto& [name, value] : options.headers) {
    if (!name.empty() && std::ranges::all_of(name, IsTokenCharacter) && std::ranges::all_of(value, IsValueCharacter)) {
      continue;
    }
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("header '{}': it has characters that HTTP does not allow", name));
  }
  return {};
}

std::string_view WhyNotOurs(int socket, const ucred& listener) {
  if (listener.uid != ::geteuid()) return "belongs to another user";
  const auto place = sys::NamespaceOfUnixPeer(socket);
  if (!place) return "has ended, and another process may use its socket";
  if (*place == sys::PidNamespace::kBelow) return "runs in a sandbox or a container";
  return *place == sys::PidNamespace::kOurs ? "" : "runs outside of this container";
}

// Refuses a process that is not a server of this user's own. It would get the command lines and the environment that
// the client sends.
Result<> CheckPeerIsOurs(int socket, const std::string& path) {
  TRY(const ucred listener, sys::CredentialsOfUnixPeer(socket));
  const std::string_view why = WhyNotOurs(socket, listener);
  if (why.empty()) return {};
  return Fail(ErrorKind::kPermissionDenied,
              fmt::format("the process {} that listens at {} {}, so nothing was sent to it; end it, and remove the "
                          "socket",
                          listener.pid, path, why));
}

loop::Task<Dialled> DialUnix(loop::EventLoop& loop, UnixServer server, DialOptions options, DialTime end) {
  const auto place = UnixPlace::Find(server.path);
  if (!place) co_return CannotReach(server, {ErrorKind::kDisconnected, place.error().message});
  auto socket = co_await ConnectTo(loop, place->address(), end);
  if (!socket) co_return CannotReach(server, socket.error());
  if (options.unix_peer == UnixPeer::kOurs) {
    const auto ours = CheckPeerIsOurs(socket->get(), server.path);
    if (!ours) co_return std::unexpected(ours.error());
  }
  LinesStreams streams{.in = std::make_unique<PlainStream>(*std::move(socket)), .peer = server.path};
  co_return ExchangeLines(loop, std::move(streams), options.limits);
}

// The way to a server: directly, or through a proxy.
struct Route {
  WebSocketServer server;
  std::optional<Proxy> proxy;
  DialOptions options;
  std::optional<TlsContext> tls = {};  // made by each dial if it is empty
  TrustDecision decision = TrustDecision::kInHandshake;

  const std::string& first_host() const { return proxy ? proxy->host : server.host; }
  uint16_t first_port() const { return proxy ? proxy->port : server.port; }

  // Returns why the first machine of the way cannot be reached.
  Error FirstFault(const Error& reason) const {
    if (!proxy) return reason;
    return {reason.kind, fmt::format("the proxy at {}: {}", HostAndPort(proxy->host, proxy->port), reason.message)};
  }
};

loop::Task<Result<OwnedFd>> ConnectToServer(loop::EventLoop& loop, const Route& route, SocketAddress first,
                                            DialTime end) {
  auto socket = co_await ConnectTo(loop, first, end);
  if (!socket) co_return std::unexpected(route.FirstFault(socket.error()));
  SetNoDelay(socket->get());
  SetKeepAlive(socket->get(), route.options.limits.peer_timeout);
  if (!route.proxy) co_return socket;
  loop::Deadline deadline(loop, TimeUntil(end));
  const auto opened = co_await OpenTunnel(loop, socket->get(), *route.proxy, route.server, deadline);
  if (!opened) co_return std::unexpected(opened.error());
  co_return socket;
}

loop::Task<Result<DialledStream>> StartTls(loop::EventLoop& loop, const Route& route, OwnedFd socket, DialTime end) {
  const Result<TlsContext> context = route.tls ? *route.tls : TlsContext::ForClient(route.options.ca_file);
  if (!context) co_return std::unexpected(context.error());
  auto stream = TlsStream::Connect(*context, std::move(socket), route.server.host, route.decision);
  loop::Deadline deadline(loop, TimeUntil(end));
  const auto shaken = co_await AwaitHandshake(loop, *stream, deadline);
  if (!shaken) co_return std::unexpected(shaken.error());
  std::string distrust = stream->distrust();
  co_return DialledStream{std::move(stream), std::move(distrust)};
}

loop::Task<Result<DialledStream>> OpenStream(loop::EventLoop& loop, const Route& route, SocketAddress first,
                                             DialTime end) {
  auto socket = co_await ConnectToServer(loop, route, first, end);
  if (!socket) co_return std::unexpected(std::move(socket).error());
  if (route.server.security == Security::kTls) co_return co_await StartTls(loop, route, *std::move(socket), end);
  co_return DialledStream{std::make_unique<PlainStream>(*std::move(socket))};
}

// Makes an attempt at one address of the first machine of the way after the other.
template <typename T>
loop::Task<Result<T>> TryAddresses(loop::EventLoop& loop, const Route& route, DialTime end,
                                   loop::Task<Result<T>> (*attempt)(loop::EventLoop&, const Route&, SocketAddress,
                                                                    DialTime)) {
  auto addresses = co_await FindAddresses(loop, route.first_host(), route.first_port(), end);
  if (!addresses) co_return CannotReach(route.server, route.FirstFault(addresses.error()));
  co_return co_await TryInTurn<T>(*std::move(addresses), end, [&](SocketAddress address, DialTime share) {
    return attempt(loop, route, address, share);
  });
}

// Dials the server by one of the addresses that the first machine of the way has.
loop::Task<Dialled> DialBy(loop::EventLoop& loop, const Route& route, SocketAddress first, DialTime end) {
  auto stream = co_await OpenStream(loop, route, first, end);
  if (!stream) co_return CannotReach(route.server, stream.error());
  ServerStream upgradable{.stream = std::move(stream->stream),
                          .peer = NameOf(route.server),
                          .host = NameOf(route.server),
                          .target = route.server.target,
                          .headers = route.options.headers,
                          .on_refused = route.options.on_refused};
  loop::Deadline deadline(loop, TimeUntil(end));
  co_return co_await RequestWebSocket(loop, std::move(upgradable), route.options.limits, deadline);
}

loop::Task<Dialled> DialWebSocket(loop::EventLoop& loop, WebSocketServer server, DialOptions options, DialTime end) {
  if (const auto valid = CheckHeaders(options); !valid) co_return std::unexpected(valid.error());
  auto proxy = ProxyFor(options.proxies, server);
  if (!proxy) co_return CannotReach(server, proxy.error());
  const Route route{.server = std::move(server), .proxy = *std::move(proxy), .options = std::move(options)};
  co_return co_await TryAddresses<std::shared_ptr<rpc::Transport>>(loop, route, end, DialBy);
}

}  // namespace

loop::Task<Result<DialledStream>> DialStream(loop::EventLoop& loop, WebSocketServer server,
                                             std::optional<TlsContext> tls, std::chrono::milliseconds timeout) {
  const DialTime end = std::chrono::steady_clock::now() + timeout;
  const Route route{.server = std::move(server),
                    .proxy = {},
                    .options = {.proxies = {}},
                    .tls = std::move(tls),
                    .decision = TrustDecision::kLater};
  co_return co_await TryAddresses<DialledStream>(loop, route, end, OpenStream);
}

loop::Task<Dialled> Dial(loop::EventLoop& loop, ServerUrl url, DialOptions options) {
  const DialTime end = std::chrono::steady_clock::now() + options.timeout;
  if (auto* socket = std::get_if<UnixServer>(&url)) {
    co_return co_await DialUnix(loop, std::move(*socket), std::move(options), end);
  }
  co_return co_await DialWebSocket(loop, std::move(std::get<WebSocketServer>(url)), std::move(options), end);
}

}  // namespace holdfast::transport
