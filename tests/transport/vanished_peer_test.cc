// A server's connection whose peer is a machine of its own, while that machine loses its power or only does not read.
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/loop_runner.h"
#include "support/required_program.h"
#include "support/test_network.h"
#include "sys/io.h"
#include "transport/peer_watch.h"
#include "transport/plain_stream.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using support::Program;
using support::RunUntil;

constexpr std::chrono::milliseconds kTimeout = 1s, kNoticed = 20s;
constexpr size_t kMessageBytes = 32u << 20;  // more than sockets hold

// A program that accepts one connection, and passes its socket to the test by descriptor 3.
const std::vector<std::string> kAcceptor = {"python3", "-uc", R"(
import socket
listener = socket.create_server(("0.0.0.0", 7000))
print("ready")
connection, address = listener.accept()
socket.send_fds(socket.socket(fileno=3), [b"x"], [connection.fileno()])
)"};

// A peer that does not read before it gets SIGUSR1. Then it reads as many bytes as the message has, and disconnects.
std::vector<std::string> PeerOf(const std::string& server) {
  return {"python3", "-uc",
          fmt::format(R"(
import signal, socket
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
connection = socket.create_connection(("{}", 7000))
print("connected")
signal.sigwait([signal.SIGUSR1])
missing = {}
while missing > 0 and (count := len(connection.recv(1 << 20))):
    missing -= count
print("cut off" if missing > 0 else "read all")
)",
                      server, kMessageBytes)};
}

OwnedFd ReceiveFd(int socket) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ready, 1, static_cast<int>(support::kPatience.count())), 1);
  EXPECT_EQ(::recvmsg(socket, &message, MSG_CMSG_CLOEXEC), 1);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  return OwnedFd(fd);
}

class VanishedPeerTest : public testing::Test, protected rpc::Receiver {
 protected:
  void SetUp() override {
    if (!support::RequireProgram("python3") || !support::RequireAvailable(network_.why_not())) GTEST_SKIP();
    const support::TestNetwork::Machine& server = network_.Add();
    machine_ = &network_.Add();
    auto sockets = sys::MakePacketPair();
    ASSERT_TRUE(sockets);
    ASSERT_TRUE(sys::SetBlocking(sockets->theirs.get(), sys::Blocking::kYes));
    Program acceptor = server.host.Start(kAcceptor, sockets->theirs.get());
    acceptor.AwaitOutput("ready");
    peer_.reset(new Program(machine_->host.Start(PeerOf(server.address))));
    peer_->AwaitOutput("connected");
    socket_ = ReceiveFd(sockets->ours.get());
    ASSERT_TRUE(socket_.is_open());
    ASSERT_TRUE(sys::SetBlocking(socket_.get(), sys::Blocking::kNo));
  }
  void TearDown() override {
    if (connection_ == nullptr || closed_) return;
    connection_->Close();
    EXPECT_TRUE(RunUntil(loop_, [this] { return closed_; }));
  }

  void OnMessage(std::string_view) override {}
  void OnDrained() override {}
  void OnClosed() override { closed_ = true; }

  // Makes a WebSocket connection of the socket.
  void Serve() {
    AcceptWebSocket(loop_,
                    {.stream = std::make_unique<PlainStream>(std::move(socket_)),
                     .peer = "peer",
                     .key = "dGhlIHNhbXBsZSBub25jZQ==",
                     .early_input = "",
                     .slot = {}},
                    {.ping_interval = 0ms, .peer_timeout = kTimeout},
                    [this](std::shared_ptr<rpc::Transport> connection) {
                      connection_ = std::move(connection);
                      connection_->Start(*this);
                    });
    ASSERT_TRUE(RunUntil(loop_, [this] { return connection_ != nullptr; }));
  }
  bool IsNoticed() {
    return RunUntil(loop_, [this] { return closed_; }, kNoticed);
  }

  support::TestNetwork network_;
  support::TestNetwork::Machine* machine_ = nullptr;  // of the peer
  std::unique_ptr<Program> peer_;
  OwnedFd socket_;
  loop::EventLoop loop_;
  std::shared_ptr<rpc::Transport> connection_;
  bool closed_ = false;
};

TEST_F(VanishedPeerTest, IsNoticedWhileBytesAreUnderWay) {
  ASSERT_NO_FATAL_FAILURE(Serve());
  network_.PowerOff(*machine_);
  connection_->Send("a few bytes, for which the other machine would have room");
  EXPECT_TRUE(IsNoticed());
}

TEST_F(VanishedPeerTest, IsNoticedWhenItDidNotReadBefore) {
  ASSERT_NO_FATAL_FAILURE(Serve());
  connection_->Send(std::string(kMessageBytes, 'x'));
  EXPECT_FALSE(RunUntil(loop_, [this] { return closed_; }, kTimeout));
  network_.PowerOff(*machine_);
  EXPECT_TRUE(IsNoticed());
}

TEST_F(VanishedPeerTest, IsNotALivingOneThatReadsNothingForALongTime) {
  ASSERT_NO_FATAL_FAILURE(Serve());
  connection_->Send(std::string(kMessageBytes, 'x'));
  EXPECT_FALSE(RunUntil(loop_, [this] { return closed_; }, 5 * kTimeout));
  peer_->Signal(SIGUSR1);
  EXPECT_TRUE(RunUntil(loop_, [this] { return closed_; }));
  EXPECT_EQ(peer_->Finish().out, "connected\nread all\n");
}

TEST_F(VanishedPeerTest, IsNoticedByTheKernelWhenNothingIsUnderWay) {
  SetKeepAlive(socket_.get(), 4s);
  network_.PowerOff(*machine_);
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ready, 1, static_cast<int>(kNoticed / 1ms)), 1);
  char byte = 0;
  EXPECT_EQ(::recv(socket_.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
}

}  // namespace
}  // namespace holdfast::transport
