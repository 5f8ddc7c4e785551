// A rendezvous whose connections the test accepts one by one, and on which the test itself is the client.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/channel.h"
#include "support/loop_runner.h"
#include "support/rpc_client.h"
#include "support/test_socket.h"
#include "sys/io.h"
#include "transport/plain_stream.h"
#include "transport/socket_address.h"
#include "transport/web_socket_connection.h"

namespace holdfast::remote {

// A connection of an executor that has asked for a WebSocket.
class Visit {
 public:
  Visit() = default;
  explicit Visit(OwnedFd fd) : socket_(std::move(fd)) {
    while (!head_.contains("\r\n\r\n")) {
      const auto bytes = socket_.ReceiveSome();
      if (!bytes || bytes->empty()) break;
      head_ += *bytes;
    }
  }

  explicit operator bool() const { return head_.contains("\r\n\r\n"); }
  const std::string& head() const { return head_; }

  void Refuse(std::string_view status) {
    EXPECT_TRUE(socket_.Send(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", status)));
    socket_.Close();
  }

  // Agrees to the WebSocket. The client has not done its handshake yet.
  support::RpcClient Join() {
    auto loop = std::make_unique<loop::EventLoop>();
    const int fd = ::fcntl(socket_.fd(), F_DUPFD_CLOEXEC, 0);
    socket_.Close();
    EXPECT_TRUE(sys::SetBlocking(fd, sys::Blocking::kNo));
    transport::UpgradedSocket upgraded{.stream = std::make_unique<transport::PlainStream>(OwnedFd(fd)),
                                       .peer = "executor",
                                       .key = Header("Sec-WebSocket-Key"),
                                       .early_input = {},
                                       .slot = {}};
    transport::Limits limits;
    limits.high_water_bytes = limits.low_water_bytes = 1;
    std::shared_ptr<rpc::Transport> joined;
    transport::AcceptWebSocket(*loop, std::move(upgraded), limits, [&](auto transport) { joined = transport; });
    EXPECT_TRUE(support::RunUntil(*loop, [&] { return joined != nullptr; }));
    return support::RpcClient(std::make_unique<support::Channel>(std::move(loop), std::move(joined)));
  }

  std::string Header(std::string_view name) const {
    const size_t at = head_.find(fmt::format("\r\n{}: ", name));
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head_.substr(begin, head_.find("\r\n", begin) - begin);
  }

 private:
  support::TestSocket socket_;
  std::string head_;
};

class ScriptedRendezvous {
 public:
  static constexpr std::string_view kSecret = "s3cret-signature";

  ScriptedRendezvous() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto address = *transport::TcpAddress("127.0.0.1", 0);
    EXPECT_EQ(::bind(listening_.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(listening_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listening_.get(), address.get(), &address.size), 0);
    name_ = transport::TextOf(address);
  }

  std::string url() const { return fmt::format("ws://{}{}", name_, target()); }
  std::string target() const { return fmt::format("/rv?role=executor&sig={}", kSecret); }
  const std::string& name() const { return name_; }

  // Returns the next connection; an empty visit if none comes.
  Visit Accept(std::chrono::milliseconds patience = support::kPatience) {
    pollfd entry{.fd = listening_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, static_cast<int>(patience.count())) != 1) return {};
    return Visit(OwnedFd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }

 private:
  OwnedFd listening_;
  std::string name_;
};

}  // namespace holdfast::remote
