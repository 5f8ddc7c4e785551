// The fixture has a proxy of the host that a test controls, for tests of the way from a command to it.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/proxy/bridge.h"
#include "support/test_socket.h"
#include "sys/descriptor_passing.h"

namespace holdfast::sandbox {

class TestListener {
 public:
  // Binds a port of its own. Connections are refused until it listens.
  explicit TestListener(int family = AF_INET) : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage address = {};
    socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&address);
    auto* const ipv6 = reinterpret_cast<sockaddr_in6*>(&address);
    address.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      ipv4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      ipv6->sin6_addr = in6addr_loopback;
    }
    if (::bind(fd_.get(), generic, size) < 0) fd_.Reset();
    ::getsockname(fd_.get(), generic, &size);
    port_ = ntohs(family == AF_INET ? ipv4->sin_port : ipv6->sin6_port);
  }

  void Listen() { ASSERT_EQ(::listen(fd_.get(), SOMAXCONN), 0); }

  support::TestSocket Accept() const {
    pollfd poll = {fd_.get(), POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(support::kPatience.count())) != 1) {
      ADD_FAILURE() << "nobody has connected";
      return {};
    }
    return support::TestSocket(OwnedFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }

  void Close() { fd_.Reset(); }
  bool is_open() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }
  uint16_t port() const { return port_; }

 private:
  OwnedFd fd_;
  uint16_t port_ = 0;
};

// TestBridge is a bridge whose listeners are in this network namespace.
class TestBridge {
 public:
  explicit TestBridge(const std::vector<ProxyEndpoint>& endpoints) {
    auto bridge = StartProxyBridge(endpoints);
    if (!bridge) {
      ADD_FAILURE() << bridge.error().message;
      return;
    }
    bridge_ = *std::move(bridge);
    std::vector<TestListener> listeners(endpoints.size());
    std::vector<int> fds;
    for (TestListener& listener : listeners) {
      listener.Listen();
      fds.push_back(listener.fd());
      ports_.push_back(listener.port());
    }
    EXPECT_TRUE(sys::SendDescriptors(bridge_.get(), fds));
  }

  support::TestSocket Connect(size_t endpoint = 0) const {
    return support::TestSocket::Connect(fmt::format("ws://127.0.0.1:{}", ports_.at(endpoint)));
  }
  void End() { bridge_.Reset(); }

 private:
  OwnedFd bridge_;
  std::vector<uint16_t> ports_;
};

}  // namespace holdfast::sandbox
