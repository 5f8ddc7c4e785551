// A RawServer lets a test be a server of any kind.
#pragma once

#include <sys/socket.h>

#include <string>

#include <gtest/gtest.h>

#include "support/test_socket.h"
#include "transport/socket_address.h"

namespace holdfast::transport {

// A listening socket. The kernel accepts its connections, so a client need not wait for the test.
class RawServer {
 public:
  RawServer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto address = *TcpAddress("127.0.0.1", 0);
    EXPECT_EQ(::bind(fd_.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    EXPECT_EQ(::getsockname(fd_.get(), address.get(), &address.size), 0);
    name_ = TextOf(address);
  }

  std::string name() const { return name_; }
  std::string url() const { return "ws://" + name_; }
  support::TestSocket Accept() { return support::TestSocket(OwnedFd(::accept4(fd_.get(), nullptr, nullptr, 0))); }
  void Close() { fd_.Reset(); }

 private:
  OwnedFd fd_;
  std::string name_;
};

}  // namespace holdfast::transport
