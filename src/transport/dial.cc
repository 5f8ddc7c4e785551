#include "transport/dial.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "transport/connect.h"
#include "transport/lines_connection.h"
#include "transport/plain_stream.h"
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
  LinesStreams streams{.in = PlainStream(*std::move(socket)), .peer = server.path};
  co_return ExchangeLines(loop, std::move(streams), options.limits);
}

loop::Task<Result<OwnedFd>> ConnectByTcp(loop::EventLoop& loop, std::string host, uint16_t port, DialTime end) {
  auto addresses = co_await FindAddresses(loop, std::move(host), port, end);
  if (!addresses) co_return std::unexpected(std::move(addresses).error());
  auto socket = co_await ConnectToAny(loop, *std::move(addresses), end);
  if (socket) SetNoDelay(socket->get());
  co_return socket;
}

loop::Task<Dialled> DialWebSocket(loop::EventLoop& loop, WebSocketServer server, DialOptions options, DialTime end) {
  if (const auto valid = CheckHeaders(options); !valid) co_return std::unexpected(valid.error());
  auto socket = co_await ConnectByTcp(loop, server.host, server.port, end);
  if (!socket) co_return CannotReach(server, socket.error());
  ServerStream stream{.stream = std::make_unique<PlainStream>(*std::move(socket)),
                      .peer = NameOf(server),
                      .host = NameOf(server),
                      .target = server.target,
                      .headers = options.headers};
  loop::Deadline deadline(loop, TimeUntil(end));
  co_return co_await RequestWebSocket(loop, std::move(stream), options.limits, deadline);
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
