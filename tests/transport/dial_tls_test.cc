#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_certificate.h"
#include "transport/dialler.h"
#include "transport/raw_server.h"
#include "transport/test_server.h"
#include "transport/tls_stream.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;
using support::TestCertificate;
using support::TestSocket;
using testing::HasSubstr;
using testing::StartsWith;

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

TestServer::Listen WithTls(const TestCertificate& certificate, Limits limits = {}) {
  return [&certificate, limits](loop::EventLoop& loop, OnConnection on_connection) {
    const auto context = TlsContext::ForServer(certificate.certificate_file(), certificate.key_file());
    return ListenWebSocket(loop, {.ip = "127.0.0.1"}, limits, {.routes = TestRoutes(), .tls = *context},
                           std::move(on_connection));
  };
}

DialOptions Trusting(const TestCertificate& certificate) { return {.ca_file = certificate.certificate_file()}; }

// Returns the error of a client that meets this certificate and trusts `ca_file`.
std::string RefusalOf(const TestCertificate& certificate, const std::string& ca_file) {
  TestServer server(WithTls(certificate));
  const auto dialled = Dialler().Dial(server.url(), {.ca_file = ca_file});
  if (dialled) return "no refusal";
  EXPECT_EQ(dialled.error().kind, ErrorKind::kPermissionDenied);
  const std::string message = dialled.error().message;
  return message.substr(message.find(": ") + 2);
}

std::string HostAndPortOf(const TestServer& server) { return server.url().substr(server.url().rfind('/') + 1); }

TEST(DialTlsTest, ExchangesMessages) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate), Echo);
  ASSERT_THAT(server.url(), StartsWith("wss://127.0.0.1:"));
  Dialler client;
  Peer* peer = client.Connect(server.url(), Trusting(certificate));
  ASSERT_NE(peer, nullptr);
  for (const size_t size : {0u, 1u, 125u, 16'383u, 16'384u, 16'385u, 100'000u, 3'000'000u}) {
    const std::string text(size, 't');
    peer->transport()->Send(text);
    ASSERT_TRUE(client.Receive(*peer) == text) << size;
  }
}

TEST(DialTlsTest, FindsTheServerByItsName) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate), Echo);
  Dialler client;
  std::string url = server.url();
  Peer* peer = client.Connect(url.replace(url.find("127.0.0.1"), 9, "localhost"), Trusting(certificate));
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("by name");
  EXPECT_EQ(client.Receive(*peer), "by name");
}

TEST(DialTlsTest, ReadsManyMessagesThatComeTogether) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate));
  Dialler client;
  Peer* peer = client.Connect(server.url(), Trusting(certificate));
  ASSERT_NE(peer, nullptr);
  Peer& accepted = server.WaitForPeer();
  server.Run([&] {
    for (int i = 0; i < 1000; ++i) accepted.transport()->Send(std::to_string(i));
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(client.Receive(*peer), std::to_string(i));
}

TEST(DialTlsTest, PausesForAClientThatDoesNotRead) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate));
  Dialler client;
  Peer* peer = client.Connect(server.url(), Trusting(certificate));
  ASSERT_NE(peer, nullptr);
  peer->transport()->SetReading(rpc::Reading::kOff);
  Peer& accepted = server.WaitForPeer();
  // The kernel holds less than this for a connection. A longer text takes too long on a busy machine, because the
  // sanitizer's realloc copies all of it each time the buffer grows (message_buffer.h).
  const std::string text(6u << 20, 'p');
  server.Run([&] { accepted.transport()->Send(text); });
  bool congested = false;
  server.Run([&] { congested = accepted.transport()->congested(); });
  EXPECT_TRUE(congested);
  peer->transport()->SetReading(rpc::Reading::kOn);
  EXPECT_TRUE(client.Receive(*peer) == text);
  EXPECT_TRUE(accepted.WaitForDrained());
}

TEST(DialTlsTest, ClosesInOrder) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate));
  Dialler client;
  Peer* peer = client.Connect(server.url(), Trusting(certificate));
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("last words");
  peer->transport()->Close();
  EXPECT_TRUE(client.AwaitClosed(*peer));
  Peer& accepted = server.WaitForPeer();
  EXPECT_EQ(accepted.WaitForMessage(), "last words");
  EXPECT_TRUE(accepted.WaitForClosed());
}

TEST(DialTlsTest, RefusesACertificateForAnotherHostAndNamesThatHost) {
  const TestCertificate other({.names = "DNS:build.example,DNS:*.lab.example,IP:10.0.0.1"});
  EXPECT_EQ(RefusalOf(other, other.certificate_file()),
            "its certificate is for build.example, *.lab.example, 10.0.0.1, not for 127.0.0.1");
}

TEST(DialTlsTest, RefusesACertificateWithoutAName) {
  const TestCertificate nameless({.names = ""});
  EXPECT_EQ(RefusalOf(nameless, nameless.certificate_file()),
            "its certificate names no host, and so is not valid for 127.0.0.1");
}

TEST(DialTlsTest, ShowsNoNameThatCouldDeceiveATerminal) {
  const TestCertificate odd({.names = "DNS:a\x1b[2Jb.example,DNS:c.example"});
  EXPECT_EQ(RefusalOf(odd, odd.certificate_file()), "its certificate is for c.example, not for 127.0.0.1");
}

TEST(DialTlsTest, RefusesASelfSignedCertificateThatNobodyTrusts) {
  const TestCertificate certificate, other;
  const std::string reason = "its certificate is self-signed and is not among the trusted ones";
  EXPECT_EQ(RefusalOf(certificate, ""), reason);
  EXPECT_EQ(RefusalOf(certificate, other.certificate_file()), reason);
}

TEST(DialTlsTest, RefusesAnExpiredCertificate) {
  const TestCertificate expired({.ends_in_s = -60});
  EXPECT_EQ(RefusalOf(expired, expired.certificate_file()), "its certificate has expired");
}

TEST(DialTlsTest, SaysThatTheServerDoesNotSpeakTls) {
  RawServer server;
  Dialler client;
  loop::Scope scope;
  std::optional<Dialler::Dialled> outcome;
  client.Begin(scope, "wss://" + server.name(), {}, outcome);
  TestSocket accepted = server.Accept();
  accepted.Send("HTTP/1.1 400 Bad Request\r\n\r\n");
  ASSERT_TRUE(client.RunUntil([&] { return outcome.has_value(); }));
  ASSERT_FALSE(outcome->has_value());
  EXPECT_EQ(outcome->error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(outcome->error().message, "cannot reach the server at " + server.name() + ": it does not speak TLS");
}

TEST(DialTlsTest, DoesNotServePlainClients) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate));
  std::string url = server.url();
  const auto dialled = Dialler().Dial(url.replace(0, 3, "ws"));
  ASSERT_FALSE(dialled.has_value());
}

TEST(DialTlsTest, DismissesAPeerThatDoesNotCompleteTheHandshake) {
  const TestCertificate certificate;
  Limits limits;
  limits.head_timeout = milliseconds(20);
  TestServer server(WithTls(certificate, limits));
  TestSocket socket = TestSocket::Connect("ws://" + HostAndPortOf(server));
  socket.Send("\x16\x03\x01");  // the beginning of a handshake
  EXPECT_EQ(socket.ReceiveAll(), "");
}

TEST(DialTlsTest, GivesUpWhenTheHandshakeTakesTooLong) {
  RawServer server;
  const auto dialled = Dialler().Dial("wss://" + server.name(), {.timeout = milliseconds(50)});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(dialled.error().message, HasSubstr("it did not complete the TLS handshake in time"));
}

TEST(DialTlsTest, RefusesAServerWithAnUnreadableCaFile) {
  const TestCertificate certificate;
  TestServer server(WithTls(certificate));
  const auto dialled = Dialler().Dial(server.url(), {.ca_file = "/nonexistent/ca"});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(dialled.error().message, HasSubstr("/nonexistent/ca: No such file or directory"));
}

}  // namespace
}  // namespace holdfast::transport
