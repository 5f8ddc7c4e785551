// Tests of the TLS port of the real server, with the product's own client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_process.h"
#include "support/test_certificate.h"
#include "transport/dialler.h"

namespace holdfast {
namespace {

using support::Finished;
using support::RunHoldfast;
using support::ServerProcess;
using support::TestCertificate;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;
using transport::Dialler;
using transport::Peer;

constexpr const char* kInitialize = R"({"id":1,"method":"initialize","params":{"clientName":"test"}})";

std::vector<std::string> FlagsOf(const TestCertificate& certificate, const std::string& listen) {
  return {"--listen", listen, "--tls-cert", certificate.certificate_file(), "--tls-key", certificate.key_file()};
}

TEST(TlsTest, ServesAClientThatTrustsTheCertificate) {
  const TestCertificate certificate;
  for (const char* listen : {"ws://127.0.0.1:0", "wss://127.0.0.1:0"}) {
    ServerProcess server = ServerProcess::Start(FlagsOf(certificate, listen));
    ASSERT_THAT(server.url(), MatchesRegex("wss://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]+"));
    Dialler client;
    Peer* peer = client.Connect(server.url(), {.ca_file = certificate.certificate_file()});
    ASSERT_NE(peer, nullptr);
    peer->transport()->Send(kInitialize);
    EXPECT_THAT(client.Receive(*peer), HasSubstr("\"sessionId\""));
  }
}

TEST(TlsTest, AsksForTheSecretBehindTls) {
  const TestCertificate certificate;
  ServerProcess server = ServerProcess::Start(FlagsOf(certificate, "wss://127.0.0.1:0"));
  const std::string url = server.url().substr(0, server.url().rfind('/'));
  const auto dialled = Dialler().Dial(url, {.ca_file = certificate.certificate_file()});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().message, "the server at " + url.substr(6) + " refused the WebSocket: 401 Unauthorized");
}

TEST(TlsTest, RefusesHalfASetting) {
  const Finished run = RunHoldfast({"exec-server", "--listen", "wss://127.0.0.1:0"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, StartsWith("holdfast: wss://127.0.0.1:0: TLS needs a certificate and its key."));
}

TEST(TlsTest, RefusesTlsOnAUnixSocket) {
  const TestCertificate certificate;
  std::vector<std::string> arguments = FlagsOf(certificate, "unix:///run/x.sock");
  arguments.insert(arguments.begin(), "exec-server");
  const Finished run = RunHoldfast(arguments);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("--tls-cert and --tls-key need an address with a port"));
}

}  // namespace
}  // namespace holdfast
