// A listener whose requests are calls, and clients of it, with or without TLS. All of them run on the thread of the
// test.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/loop_runner.h"
#include "support/test_certificate.h"
#include "support/test_socket.h"
#include "transport/http_call.h"
#include "transport/listener.h"
#include "transport/plain_stream.h"
#include "transport/security.h"
#include "transport/socket_address.h"
#include "transport/test_server.h"
#include "transport/tls_stream.h"

namespace holdfast::transport {

// Collects what the server sends.
class CallClient {
 public:
  explicit CallClient(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // Sends a text that the socket has room for.
  void Send(std::string_view text) {
    while (!text.empty()) {
      const iovec bytes{const_cast<char*>(text.data()), text.size()};
      const ssize_t count = stream_->Write(std::span(&bytes, 1));
      ASSERT_GT(count, 0);
      text.remove_prefix(static_cast<size_t>(count));
    }
  }

  // Reads what is there.
  const std::string& received() {
    std::array<char, 16u << 10> chunk;
    for (ssize_t count = 1; count > 0 && !ended_;) {
      count = stream_->Read(chunk);
      if (count > 0) received_.append(chunk.data(), static_cast<size_t>(count));
      ended_ = count == 0 || (count < 0 && errno != EAGAIN);
    }
    return received_;
  }
  bool ended() {
    received();
    return ended_;
  }

  void EndWriting() { stream_->EndWriting(); }
  void HangUp() { stream_->Close(); }
  ByteStream& stream() { return *stream_; }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string received_;
  bool ended_ = false;
};

class CallServer {
 public:
  explicit CallServer(Security security = Security::kPlain, const Limits& limits = {}) {
    HttpFrontOptions options{.routes = TestRoutes()};
    options.on_call = [this](std::unique_ptr<HttpCall> call) { calls.push_back(std::move(call)); };
    if (security == Security::kTls) {
      certificate_.emplace();
      client_context_ = *TlsContext::ForClient(certificate_->certificate_file());
      options.tls = *TlsContext::ForServer(certificate_->certificate_file(), certificate_->key_file());
    }
    auto made = ListenWebSocket(loop, {.ip = "127.0.0.1"}, limits, std::move(options), [](auto) {});
    if (!made) ADD_FAILURE() << made.error().message;
    if (made) listener = *std::move(made);
  }

  CallClient Connect() {
    const auto socket = support::TestSocket::Connect("ws://127.0.0.1:" + std::to_string(listener->port()));
    OwnedFd fd(::fcntl(socket.fd(), F_DUPFD_CLOEXEC, 0));
    EXPECT_EQ(::fcntl(fd.get(), F_SETFL, O_NONBLOCK), 0);
    SetNoDelay(fd.get());  // else the kernel may keep a second short text back
    if (!client_context_) return CallClient(std::make_unique<PlainStream>(std::move(fd)));
    auto stream = TlsStream::Connect(*client_context_, std::move(fd), "127.0.0.1");
    EXPECT_TRUE(support::RunUntil(loop, [&] { return stream->Handshake() == TlsStream::Step::kDone; }));
    return CallClient(std::move(stream));
  }

  // Connects, sends a request and returns the client when `calls` has one more.
  CallClient Call(std::string_view request) {
    CallClient client = Connect();
    const size_t before = calls.size();
    client.Send(request);
    EXPECT_TRUE(support::RunUntil(loop, [&] { return calls.size() > before; })) << client.received();
    return client;
  }

  // Returns everything that the server sends to a client, up to the end of the stream.
  std::string Answer(CallClient& client) {
    EXPECT_TRUE(support::RunUntil(loop, [&] { return client.ended(); })) << client.received();
    return client.received();
  }

  loop::EventLoop loop;
  std::unique_ptr<Listener> listener;
  std::vector<std::unique_ptr<HttpCall>> calls;

 private:
  std::optional<support::TestCertificate> certificate_;
  std::optional<TlsContext> client_context_;
};

}  // namespace holdfast::transport
