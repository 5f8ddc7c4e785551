// Tests of WebSocket connections that are encrypted.
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rpc/transport.h"
#include "support/loop_runner.h"
#include "support/test_certificate.h"
#include "transport/raw_tls_peer.h"
#include "transport/web_socket_connection.h"

namespace holdfast::transport {
namespace {

struct IdleReceiver final : rpc::Receiver {
  void OnMessage(std::string_view) override {}
  void OnDrained() override {}
  void OnClosed() override { closed = true; }

  bool closed = false;
};

// The server's end of a WebSocket, whose client is a RawPeer.
class WebSocketTlsTest : public testing::Test {
 protected:
  WebSocketTlsTest() {
    auto sockets = MakeSockets();
    const auto client_context = TlsContext::ForClient(certificate_.certificate_file());
    const auto server_context = TlsContext::ForServer(certificate_.certificate_file(), certificate_.key_file());
    server_fd_ = sockets.left.get();
    auto stream = TlsStream::Accept(*server_context, std::move(sockets.left));
    client_ = std::make_unique<RawPeer>(*client_context, std::move(sockets.right));
    ::SSL_set_connect_state(client_->ssl());
    client_->ShakeHandsWith(*stream);
    UpgradedSocket socket{
        .stream = std::move(stream), .peer = "test", .key = "dGhlIHNhbXBsZSBub25jZQ==", .early_input = {}, .slot = {}};
    AcceptWebSocket(loop_, std::move(socket), {}, [this](std::shared_ptr<rpc::Transport> connection) {
      connection_ = std::move(connection);
      connection_->Start(receiver_);
    });
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return ReadText().contains("101 Switching Protocols"); }));
  }
  ~WebSocketTlsTest() override {
    client_.reset();  // hangs up
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return receiver_.closed; }));
  }

  std::string ReadText() {
    std::array<char, 4096> text;
    const int count = ::SSL_read(client_->ssl(), text.data(), text.size());
    return {text.data(), static_cast<size_t>(std::max(count, 0))};
  }

  static int UnreadBytes(int fd) {
    int count = 0;
    EXPECT_EQ(::ioctl(fd, FIONREAD, &count), 0);
    return count;
  }

  // Fills the way to the client with bytes that are no TLS, until the socket accepts no more. Returns how many.
  size_t FillSocket() const {
    const std::string filler(1000, 'x');
    size_t total = 0;
    for (;;) {
      const ssize_t count = ::send(server_fd_, filler.data(), filler.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count <= 0) return total;
      total += static_cast<size_t>(count);
    }
  }

  void DiscardFromSocket(size_t bytes) const {
    std::string scratch(bytes, '\0');
    ASSERT_EQ(::recv(client_->fd(), scratch.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }

  const support::TestCertificate certificate_;
  loop::EventLoop loop_;
  IdleReceiver receiver_;
  int server_fd_ = -1;
  std::unique_ptr<RawPeer> client_;
  std::shared_ptr<rpc::Transport> connection_;
};

// OpenSSL answers a KeyUpdate when the next one comes. The answer has to wait because the socket is full, and nothing
// else is sent or received afterwards.
TEST_F(WebSocketTlsTest, SendsTheAnswerToAKeyUpdateAsSoonAsTheSocketAcceptsIt) {
  const size_t filler = FillSocket();
  ASSERT_GT(filler, 0u);
  client_->UpdateKey(2);
  client_->Send();
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return UnreadBytes(server_fd_) == 0; }));
  support::RunReady(loop_);
  DiscardFromSocket(filler);
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return UnreadBytes(client_->fd()) > 0; }));
  EXPECT_EQ(ReadText(), "");  // the answer has no text
  EXPECT_FALSE(receiver_.closed);
}

}  // namespace
}  // namespace holdfast::transport
