#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/ascii.h"
#include "sys/io.h"

namespace holdfast::support {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

// "Name: value" lines.
std::vector<std::pair<std::string, std::string>> ParseHeaders(std::string_view lines) {
  std::vector<std::pair<std::string, std::string>> headers;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
    const size_t colon = std::min(line.find(':'), line.size());
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), AsciiLower);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    headers.emplace_back(std::move(name), value);
  }
  return headers;
}

}  // namespace

std::optional<std::string> HttpArrival::Header(std::string_view name) const {
  std::optional<std::string> values;
  for (const auto& [key, value] : headers) {
    if (key == name) values = values ? *values + "|" + value : value;
  }
  return values;
}

bool HttpPeer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool HttpPeer::Answer(int status, std::string_view body, std::string_view more_headers) {
  return Send(
      fmt::format("HTTP/1.1 {} Whatever\r\n{}Content-Length: {}\r\n\r\n{}", status, more_headers, body.size(), body));
}

void HttpPeer::AwaitHangUp() const {
  pollfd entry{.fd = fd_.get(), .events = POLLRDHUP, .revents = 0};
  ::poll(&entry, 1, -1);
}

void HttpPeer::Close() const { ::shutdown(fd_.get(), SHUT_RDWR); }

bool HttpPeer::Fill() {
  char bytes[16u << 10];
  const ssize_t received = sys::Read(fd_.get(), bytes, sizeof(bytes));
  if (received <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(received));
  return true;
}

std::optional<HttpArrival> HttpPeer::Receive() {
  while (!buffer_.contains(kHeadEnd)) {
    if (!Fill()) return std::nullopt;
  }
  const std::string head = buffer_.substr(0, buffer_.find(kHeadEnd));
  buffer_.erase(0, head.size() + kHeadEnd.size());
  const std::string line = head.substr(0, head.find("\r\n"));
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == last) return std::nullopt;
  HttpArrival arrival{line.substr(0, first), line.substr(first + 1, last - first - 1), ""};
  arrival.headers = ParseHeaders(std::string_view(head).substr(std::min(line.size() + 2, head.size())));
  const size_t length = std::strtoull(arrival.Header("content-length").value_or("0").c_str(), nullptr, 10);
  while (buffer_.size() < length) {
    if (!Fill()) return std::nullopt;
  }
  arrival.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return arrival;
}

HttpServer::HttpServer(Script script)
    : script_(std::move(script)), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listening_.get(), generic, size), 0);
  EXPECT_EQ(::listen(listening_.get(), SOMAXCONN), 0);
  EXPECT_EQ(::getsockname(listening_.get(), generic, &size), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  ::shutdown(listening_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::string HttpServer::Url(std::string_view target) const { return fmt::format("http://{}{}", Authority(), target); }
std::string HttpServer::Authority() const { return fmt::format("127.0.0.1:{}", port_); }

std::vector<HttpArrival> HttpServer::arrivals() const {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

void HttpServer::Accept() {
  for (;;) {
    OwnedFd connection(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.is_open()) return;
    ++connections_;
    ++open_connections_;
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    sockets_.push_back(connection.get());
    threads_.emplace_back([this, fd = connection.Release()] { Serve(OwnedFd(fd)); });
  }
}

// The socket is closed under the lock. Otherwise another file could have its number when the destructor uses it.
void HttpServer::Serve(OwnedFd connection) {
  std::optional<HttpPeer> peer(std::move(connection));
  while (auto arrival = peer->Receive()) {
    {
      const std::lock_guard lock(mutex_);
      arrivals_.push_back(*arrival);
    }
    script_(*arrival, *peer);
  }
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, peer->fd());
  peer.reset();
  --open_connections_;
}

void EchoRequest(const HttpArrival& arrival, HttpPeer& peer) {
  std::string text = fmt::format("{} {}\n", arrival.method, arrival.target);
  for (const auto& [name, value] : arrival.headers) text += fmt::format("{}: {}\n", name, value);
  peer.Answer(200, text + "\n" + arrival.body);
}

}  // namespace holdfast::support
