#include <sys/socket.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/parse_number.h"
#include "base/shown_text.h"
#include "transport/http_request.h"
#include "transport/proxy.h"
#include "transport/socket_address.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
constexpr size_t kMaxStatusBytes = 200;  // shown of a refusal

std::string ConnectRequest(const Proxy& proxy, const WebSocketServer& server) {
  const std::string place = HostAndPort(server.host, server.port);
  std::string authorization;
  if (!proxy.credentials.empty()) {
    authorization =
        fmt::format("Proxy-Authorization: Basic {}\r\n", Base64Encode(std::as_bytes(std::span(proxy.credentials))));
  }
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nUser-Agent: holdfast\r\n{1}\r\n", place, authorization);
}

Result<> CheckStatus(const std::string& line, const std::string& name) {
  const std::string_view status = std::string_view(line).substr(line.find(' ') + 1);
  const int code = ParseNumber<int>(status.substr(0, 3)).value_or(0);
  if (code >= 200 && code < 300) return {};
  return Fail(code == 403 || code == 407 ? ErrorKind::kPermissionDenied : ErrorKind::kDisconnected,
              fmt::format("the proxy at {} refused: {}", name, ShownExcerpt(status, kMaxStatusBytes)));
}

}  // namespace

Result<std::optional<std::string>> StatusLineOf(std::string_view answer) {
  constexpr std::string_view kStart = "HTTP/1.";
  if (!answer.starts_with(kStart.substr(0, answer.size()))) {
    return Fail(ErrorKind::kInvalidRequest, "it does not speak HTTP");
  }
  const size_t end = answer.find(kEndOfHead);
  if (end == std::string_view::npos) {
    if (answer.size() <= kMaxHttpHeadBytes) return std::nullopt;
    return Fail(ErrorKind::kInvalidRequest, "its answer is too long");
  }
  std::string line(answer.substr(0, answer.find("\r\n")));
  if (line.size() < sizeof("HTTP/1.1 200") - 1 || line[8] != ' ') {
    return Fail(ErrorKind::kInvalidRequest, "it does not speak HTTP");
  }
  const bool is_tunnel = line[9] == '2';
  if (is_tunnel && end + kEndOfHead.size() < answer.size()) {
    return Fail(ErrorKind::kInvalidRequest, "it sent bytes before it was asked to");
  }
  return line;
}

// The request fits into the buffer of a socket that nothing has been written to.
loop::Task<Result<>> OpenTunnel(loop::EventLoop& loop, int socket, Proxy proxy, WebSocketServer server,
                                loop::Deadline& deadline) {
  const std::string name = HostAndPort(proxy.host, proxy.port);
  const std::string request = ConnectRequest(proxy, server);
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) != std::ssize(request)) {
    co_return Fail(ErrorKind::kDisconnected, fmt::format("the proxy at {} does not read", name));
  }
  loop::Event readable;
  loop::FdWatch watch(loop, socket, [&] { readable.Notify(); });
  std::string answer;
  for (;;) {
    watch.WatchReadable();
    if (co_await readable.NextBefore(deadline) == loop::Event::Woken::kByTime) {
      co_return Fail(ErrorKind::kTimeout, fmt::format("the proxy at {} did not answer in time", name));
    }
    std::array<char, 1024> chunk;
    const ssize_t count = ::recv(socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) {
      co_return Fail(ErrorKind::kDisconnected, fmt::format("the proxy at {} closed the connection", name));
    }
    answer.append(chunk.data(), static_cast<size_t>(count));
    const auto line = StatusLineOf(answer);
    if (!line) co_return Fail(line.error().kind, fmt::format("the proxy at {}: {}", name, line.error().message));
    if (*line) co_return CheckStatus(**line, name);
  }
}

}  // namespace holdfast::transport
