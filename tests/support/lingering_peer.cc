#include "support/lingering_peer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include <gtest/gtest.h>

#include "sys/descriptor_passing.h"
#include "sys/socket_pair.h"

namespace holdfast::support {
namespace {

sockaddr_in Loopback(uint16_t port) {
  return {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
}

}  // namespace

LingeringPeer::LingeringPeer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_.get(), name, size), 0);
  EXPECT_EQ(::listen(listener_.get(), 1024), 0);
  EXPECT_EQ(::getsockname(listener_.get(), name, &size), 0);
  port_ = ntohs(address.sin_port);
}

OwnedFd LingeringPeer::Connect() const {
  OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port_);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string bytes(1 << 16, 'x');
  while (::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  const linger wait = {.l_onoff = 1, .l_linger = static_cast<int>(kLingerTime.count())};
  EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &wait, sizeof wait), 0);
  return socket;
}

OwnedFd InQueue(OwnedFd socket) {
  auto pair = sys::MakeSocketPair(sys::SocketKind::kStream);
  EXPECT_TRUE(pair);
  const int passed = socket.get();
  EXPECT_TRUE(sys::SendDescriptors(pair->ours.get(), {&passed, 1}));
  return std::move(pair->theirs);
}

}  // namespace holdfast::support
