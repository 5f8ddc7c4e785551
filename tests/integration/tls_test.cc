// Tests of the TLS port of the real server, with the product's own client.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/paths.h"
#include "support/sandbox_workspace.h"
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
using testing::Not;
using testing::StartsWith;
using transport::Dialler;
using transport::Peer;

constexpr const char* kInitialize = R"({"id":1,"method":"initialize","params":{"clientName":"test"}})";

std::vector<std::string> FlagsOf(const TestCertificate& certificate, const std::string& listen) {
  return {"--listen", listen, "--tls-cert", certificate.certificate_file(), "--tls-key", certificate.key_file()};
}

std::string WhyNoSandbox() {
  return support::SandboxWorkspace({.user = ::geteuid(), .means = support::Means::kSystemBubblewrap}).WhyNot();
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
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, StartsWith("holdfast: wss://127.0.0.1:0: TLS needs a certificate and its key."));
}

TEST(TlsTest, RefusesTlsOnAUnixSocket) {
  const TestCertificate certificate;
  std::vector<std::string> arguments = FlagsOf(certificate, "unix:///run/x.sock");
  arguments.insert(arguments.begin(), "exec-server");
  const Finished run = RunHoldfast(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--tls-cert and --tls-key need an address with a port"));
}

// The directory of the key is the workspace, which the policy opens for reading and writing.
TEST(TlsTest, ASandboxedCommandCannotReadOrReplaceTheKey) {
  if (const std::string reason = WhyNoSandbox(); !reason.empty()) GTEST_SKIP() << reason;
  const TestCertificate certificate;
  const std::string key = certificate.key_file(), directory(ParentOf(key));
  ServerProcess server = ServerProcess::Start(FlagsOf(certificate, "wss://127.0.0.1:0"));
  const auto run = [&](const std::string& sandbox, const std::string& script) {
    return RunHoldfast({"run", "--server", server.url(), "--ca-file", certificate.certificate_file(), "--sandbox",
                        sandbox, "-C", directory, "--", "sh", "-c", script});
  };
  EXPECT_THAT(run("none", "cat " + key).out, HasSubstr("PRIVATE KEY"));
  for (const char* sandbox : {"read-only", "workspace-write"}) {
    const Finished inside = run(sandbox, "cat cert.pem; cat " + key);
    EXPECT_THAT(inside.out, HasSubstr("CERTIFICATE")) << sandbox << inside.err;
    EXPECT_THAT(inside.out, Not(HasSubstr("PRIVATE KEY"))) << sandbox;
    EXPECT_NE(inside.exit_code, 0) << sandbox;
  }
  EXPECT_EQ(run("workspace-write", "echo x > other").exit_code, 0);
  for (const char* script : {"rm -f key.pem", "mv key.pem away", "mv -f other key.pem", "ln key.pem name"}) {
    EXPECT_NE(run("workspace-write", script).exit_code, 0) << script;
  }
  EXPECT_THAT(run("none", "cat key.pem").out, HasSubstr("PRIVATE KEY"));
}

// A key may be removed from the disk once the server has read it.
TEST(TlsTest, SandboxesWorkWithoutTheFileOfTheKey) {
  if (const std::string reason = WhyNoSandbox(); !reason.empty()) GTEST_SKIP() << reason;
  const TestCertificate certificate;
  ServerProcess server = ServerProcess::Start(FlagsOf(certificate, "wss://127.0.0.1:0"));
  std::filesystem::remove(certificate.key_file());
  const std::string directory(ParentOf(certificate.key_file()));
  const Finished run = RunHoldfast({"run", "--server", server.url(), "--ca-file", certificate.certificate_file(),
                                    "--sandbox", "workspace-write", "-C", directory, "--", "echo", "works"});
  EXPECT_EQ(run.out, "works\n") << run.err;
}

}  // namespace
}  // namespace holdfast
