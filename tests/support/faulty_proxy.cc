#include "support/faulty_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

constexpr std::chrono::milliseconds kTick(5);

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool SendAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

FaultyProxy::FaultyProxy(uint16_t server_port, uint32_t seed) : server_port_(server_port), random_(seed) {
  listener_ = OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
  EXPECT_EQ(::listen(listener_.get(), 16), 0);
  EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

FaultyProxy::~FaultyProxy() {
  stopping_ = true;
  thread_.join();
}

void FaultyProxy::Serve() {
  while (!stopping_) {
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      watched.push_back({pair.client.get(), POLLIN, 0});
      watched.push_back({pair.server.get(), POLLIN, 0});
    }
    ::poll(watched.data(), watched.size(), static_cast<int>(kTick.count()));
    size_t at = 1;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
      bool open = Clock::now() < pair->cut_at && pair->bytes_left > 0;
      if (open && watched[at].revents != 0) open = Forward(*pair, pair->client.get(), pair->server.get());
      if (open && watched[at + 1].revents != 0) open = Forward(*pair, pair->server.get(), pair->client.get());
      if (!open) Cut(*pair);
      pair = open ? std::next(pair) : pairs_.erase(pair);
    }
    if (watched[0].revents != 0) Accept();
  }
}

void FaultyProxy::Accept() {
  OwnedFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.is_open()) return;
  if (Random(0, 9) == 0) {
    ++cuts_;
    return;  // cut before the first byte
  }
  OwnedFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(server_port_);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  pairs_.push_back({std::move(client), std::move(server), Random(200, 30'000'000),
                    Clock::now() + std::chrono::milliseconds(Random(20, 900))});
}

// Forwards a piece of what is there. Returns false at the end of the connection.
bool FaultyProxy::Forward(Pair& pair, int from, int to) {
  char piece[65536];
  const size_t wanted = std::min<size_t>({sizeof piece, pair.bytes_left, Random(1, sizeof piece)});
  const ssize_t got = ::recv(from, piece, wanted, 0);
  if (got <= 0) return false;
  pair.bytes_left -= static_cast<size_t>(got);
  return SendAll(to, piece, static_cast<size_t>(got));
}

// Half of the cuts are resets, which also discard what the other end has not read.
void FaultyProxy::Cut(Pair& pair) {
  ++cuts_;
  if (Random(0, 1) == 0) return;
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(pair.client.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  ::setsockopt(pair.server.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

}  // namespace holdfast::support
