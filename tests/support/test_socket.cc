#include "support/test_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/result.h"

namespace holdfast::support {
namespace {

constexpr std::string_view kTcpScheme = "ws://";
constexpr std::string_view kUnixScheme = "unix://";

TestSocket ConnectTo(int family, const void* address, size_t size, std::string_view url) {
  OwnedFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) < 0) {
    ADD_FAILURE() << "connect " << url << ": " << ErrnoText(errno);
    return TestSocket();
  }
  return TestSocket(std::move(fd));
}

TestSocket ConnectUnix(std::string_view url) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  url.substr(kUnixScheme.size()).copy(address.sun_path, sizeof(address.sun_path) - 1);
  return ConnectTo(AF_UNIX, &address, sizeof(address), url);
}

TestSocket ConnectTcp(std::string_view url) {
  std::string_view rest = url.substr(kTcpScheme.size());
  rest = rest.substr(0, rest.find('/'));
  const size_t colon = rest.rfind(':');
  const auto port = static_cast<uint16_t>(std::atoi(std::string(rest.substr(colon + 1)).c_str()));
  if (rest.starts_with('[')) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    ::inet_pton(AF_INET6, std::string(rest.substr(1, colon - 2)).c_str(), &address.sin6_addr);
    return ConnectTo(AF_INET6, &address, sizeof(address), url);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, std::string(rest.substr(0, colon)).c_str(), &address.sin_addr);
  return ConnectTo(AF_INET, &address, sizeof(address), url);
}

bool WaitFor(int fd, short events, std::chrono::milliseconds timeout) {
  pollfd entry{.fd = fd, .events = events, .revents = 0};
  return ::poll(&entry, 1, static_cast<int>(timeout.count())) == 1;
}

}  // namespace

TestSocket TestSocket::Connect(std::string_view url) {
  return url.starts_with(kUnixScheme) ? ConnectUnix(url) : ConnectTcp(url);
}

bool TestSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!WaitFor(fd(), POLLOUT, kPatience)) {
      ADD_FAILURE() << "the peer takes nothing";
      return false;
    }
    const ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::optional<std::string> TestSocket::ReceiveSome(std::chrono::milliseconds timeout, size_t max_bytes) {
  if (!is_open()) return "";
  if (!WaitFor(fd(), POLLIN, timeout)) return std::nullopt;
  std::string bytes(max_bytes, '\0');
  const ssize_t received = ::recv(fd(), bytes.data(), bytes.size(), 0);
  bytes.resize(received > 0 ? static_cast<size_t>(received) : 0);
  return bytes;
}

std::optional<std::string> TestSocket::ReceiveAll(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::string all;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto some = ReceiveSome(std::max(left, std::chrono::milliseconds(0)));
    if (!some) return std::nullopt;
    if (some->empty()) return all;
    all += *some;
  }
}

void TestSocket::CloseWrite() { ::shutdown(fd(), SHUT_WR); }

}  // namespace holdfast::support
