#include <poll.h>
#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/test_certificate.h"
#include "transport/dialler.h"
#include "transport/raw_server.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;
using support::TestCertificate;
using support::TestSocket;
using testing::HasSubstr;
using testing::StartsWith;

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

// A proxy for one connection. It answers with `answer`, and if that opens a tunnel, it carries the bytes of the client
// to `target`, whatever place the client has named.
class TestProxy {
 public:
  TestProxy(std::string answer, std::string target)
      : answer_(std::move(answer)), target_(std::move(target)), thread_([this] { Serve(); }) {}
  ~TestProxy() { thread_.join(); }

  std::string url() const { return "http://" + server_.name(); }
  std::string name() const { return server_.name(); }
  // Returns the request, once the client has done with the proxy.
  const std::string& request() const { return request_; }

 private:
  void Serve() {
    TestSocket client = server_.Accept();
    while (!request_.contains("\r\n\r\n")) {
      const auto more = client.ReceiveSome();
      if (!more || more->empty()) return;
      request_ += *more;
    }
    client.Send(answer_);
    if (target_.empty()) return client.CloseWrite();
    TestSocket target = TestSocket::Connect(target_);
    while (Carry(client, target)) continue;
  }

  static bool Carry(TestSocket& client, TestSocket& target) {
    pollfd ends[] = {{client.fd(), POLLIN, 0}, {target.fd(), POLLIN, 0}};
    if (::poll(ends, 2, static_cast<int>(support::kPatience.count())) <= 0) return false;
    return (ends[0].revents == 0 || Pass(client, target)) && (ends[1].revents == 0 || Pass(target, client));
  }

  static bool Pass(TestSocket& from, TestSocket& to) {
    const auto bytes = from.ReceiveSome();
    return bytes && !bytes->empty() && to.Send(*bytes);
  }

  RawServer server_;
  std::string answer_, target_, request_;
  std::thread thread_;
};

constexpr const char* kTunnel = "HTTP/1.1 200 Connection established\r\n\r\n";

Error RefusalThrough(const std::string& answer) {
  TestProxy proxy(answer, "");
  const auto dialled = Dialler().Dial("ws://server.example:80", {.proxies = {.http = proxy.url()}});
  if (dialled) return {ErrorKind::kInternal, "no refusal"};
  std::string message = dialled.error().message;
  if (const size_t at = message.find(proxy.name()); at != std::string::npos) {
    message.replace(at, proxy.name().size(), "PROXY");
  }
  return {dialled.error().kind, message};
}

TEST(DialProxyTest, ReachesTheServerThroughATunnel) {
  TestServer server(Limits(), Echo);
  TestProxy proxy(kTunnel, server.url());
  {
    Dialler client;
    std::string proxy_url = proxy.url();
    proxy_url.insert(7, "me:secret@");
    Peer* peer = client.Connect("ws://server.example:1234", {.proxies = {.http = proxy_url}});
    ASSERT_NE(peer, nullptr);
    peer->transport()->Send("through a proxy");
    EXPECT_EQ(client.Receive(*peer), "through a proxy");
    EXPECT_THAT(proxy.request(), StartsWith("CONNECT server.example:1234 HTTP/1.1\r\nHost: server.example:1234\r\n"));
    EXPECT_THAT(proxy.request(), HasSubstr("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
  }
}

TEST(DialProxyTest, ChecksTheCertificateOfTheServerBehindTheProxy) {
  const TestCertificate certificate({.names = "DNS:server.example"});
  TestServer server(
      [&](loop::EventLoop& loop, OnConnection on_connection) {
        const auto context = TlsContext::ForServer(certificate.certificate_file(), certificate.key_file());
        return ListenWebSocket(loop, {.ip = "127.0.0.1"}, Limits(), {.routes = TestRoutes(), .tls = *context},
                               std::move(on_connection));
      },
      Echo);
  std::string target = server.url();
  target.replace(0, 3, "ws");  // TestSocket speaks no TLS, and only passes it on
  TestProxy proxy(kTunnel, target);
  Dialler client;
  Peer* peer = client.Connect("wss://server.example",
                              {.ca_file = certificate.certificate_file(), .proxies = {.https = proxy.url()}});
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("encrypted");
  EXPECT_EQ(client.Receive(*peer), "encrypted");
}

TEST(DialProxyTest, SaysHowTheProxyRefuses) {
  EXPECT_EQ(RefusalThrough("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
            (Error{ErrorKind::kPermissionDenied,
                   "cannot reach the server at server.example:80: the proxy at PROXY refused: 407 Proxy "
                   "Authentication Required"}));
  EXPECT_EQ(RefusalThrough("HTTP/1.1 502 \x1b[2JBad\r\n\r\n"),
            (Error{ErrorKind::kDisconnected,
                   "cannot reach the server at server.example:80: the proxy at PROXY refused: 502 \\x1b[2JBad"}));
  EXPECT_EQ(RefusalThrough("hello"),
            (Error{ErrorKind::kInvalidRequest,
                   "cannot reach the server at server.example:80: the proxy at PROXY: it does not speak HTTP"}));
  EXPECT_EQ(RefusalThrough(""),
            (Error{ErrorKind::kDisconnected,
                   "cannot reach the server at server.example:80: the proxy at PROXY closed the connection"}));
}

TEST(DialProxyTest, SaysThatTheProxyCannotBeReached) {
  RawServer gone;
  gone.Close();
  const auto dialled = Dialler().Dial("ws://server.example:80", {.proxies = {.http = "http://" + gone.name()}});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().message,
            "cannot reach the server at server.example:80: the proxy at " + gone.name() + ": Connection refused");
}

TEST(DialProxyTest, GivesUpOnASilentProxy) {
  RawServer silent;
  const auto dialled = Dialler().Dial("ws://server.example:80",
                                      {.timeout = milliseconds(50), .proxies = {.http = "http://" + silent.name()}});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kTimeout);
}

}  // namespace
}  // namespace holdfast::transport
