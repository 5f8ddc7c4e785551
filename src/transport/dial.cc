#include "transport/dial.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "transport/connect.h"
#include "transport/lines_connection.h"
#include "transport/plain_stream.h"
#include "transport/tls_stream.h"
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

loop::Task<Dialled> DialUnix(loop::EventLoop& loop, UnixServer server, DialOptions options, DialTime end) {
  auto socket = co_await ConnectToAny(loop, {UnixAddress(server.path)}, end);
  if (!socket) co_return CannotReach(server, socket.error());
  LinesStreams streams{.in = std::make_unique<PlainStream>(*std::move(socket)), .peer = server.path};
  co_return ExchangeLines(loop, std::move(streams), options.limits);
}

loop::Task<Result<OwnedFd>> ConnectByTcp(loop::EventLoop& loop, std::string host, uint16_t port, DialTime end) {
  auto addresses = co_await FindAddresses(loop, std::move(host), port, end);
  if (!addresses) co_return std::unexpected(std::move(addresses).error());
  auto socket = co_await ConnectToAny(loop, *std::move(addresses), end);
  if (socket) SetNoDelay(socket->get());
  if (socket) SetPeerTimeout(socket->get());
  co_return socket;
}

// Connects to the server, through its proxy if it has one.
loop::Task<Result<OwnedFd>> ConnectToServer(loop::EventLoop& loop, WebSocketServer server, ProxySettings settings,
                                            DialTime end) {
  const auto proxy = ProxyFor(settings, server);
  if (!proxy) co_return std::unexpected(proxy.error());
  if (!*proxy) co_return co_await ConnectByTcp(loop, server.host, server.port, end);
  const Proxy& chosen = **proxy;
  auto socket = co_await ConnectByTcp(loop, chosen.host, chosen.port, end);
  if (!socket) {
    co_return Fail(socket.error().kind,
                   fmt::format("the proxy at {}: {}", HostAndPort(chosen.host, chosen.port), socket.error().message));
  }
  loop::Deadline deadline(loop, TimeUntil(end));
  const auto opened = co_await OpenTunnel(loop, socket->get(), chosen, server, deadline);
  if (!opened) co_return std::unexpected(opened.error());
  co_return socket;
}

loop::Task<Result<std::unique_ptr<ByteStream>>> StartTls(loop::EventLoop& loop, OwnedFd socket, std::string host,
                                                         std::string ca_file, DialTime end) {
  const auto context = TlsContext::ForClient(ca_file);
  if (!context) co_return std::unexpected(context.error());
  auto stream = TlsStream::Connect(*context, std::move(socket), host);
  loop::Deadline deadline(loop, TimeUntil(end));
  const auto shaken = co_await AwaitHandshake(loop, *stream, deadline);
  if (!shaken) co_return std::unexpected(shaken.error());
  co_return stream;
}

loop::Task<Result<std::unique_ptr<ByteStream>>> OpenStream(loop::EventLoop& loop, WebSocketServer server,
                                                           DialOptions options, DialTime end) {
  auto socket = co_await ConnectToServer(loop, server, options.proxies, end);
  if (!socket) co_return std::unexpected(std::move(socket).error());
  if (server.security == Security::kPlain) co_return std::make_unique<PlainStream>(*std::move(socket));
  co_return co_await StartTls(loop, *std::move(socket), server.host, std::move(options.ca_file), end);
}

loop::Task<Dialled> DialWebSocket(loop::EventLoop& loop, WebSocketServer server, DialOptions options, DialTime end) {
  if (const auto valid = CheckHeaders(options); !valid) co_return std::unexpected(valid.error());
  auto stream = co_await OpenStream(loop, server, options, end);
  if (!stream) co_return CannotReach(server, stream.error());
  ServerStream upgradable{.stream = *std::move(stream),
                          .peer = NameOf(server),
                          .host = NameOf(server),
                          .target = server.target,
                          .headers = options.headers,
                          .on_refused = options.on_refused};
  loop::Deadline deadline(loop, TimeUntil(end));
  co_return co_await RequestWebSocket(loop, std::move(upgradable), options.limits, deadline);
}

}  // namespace

loop::Task<Dialled> Dial(loop::EventLoop& loop, ServerUrl url, DialOptions options) {
  const DialTime end = std::chrono::steady_clock::now() + options.timeout;
  if (auto* socket = std::get_if<UnixServer>(&url)) {
    co_return co_await DialUnix(loop, std::move(*socket), std::move(options), end);
  }
  co_return co_await DialWebSocket(loop, std::move(std::get<WebSocketServer>(url)), std::move(options), end);
}

}  // namespace holdfast::transport
