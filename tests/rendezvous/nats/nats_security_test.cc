// The settings of a bus over NATS, its library, and connections with TLS and passwords.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/nats/bus_fixture.h"
#include "rendezvous/nats/nats_bus.h"
#include "rendezvous/nats/nats_library.h"
#include "support/required_program.h"
#include "support/test_certificate.h"

namespace holdfast::rendezvous {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class NatsSecurityTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { (void)support::RequireProgram("nats-server"); }

  // Returns the message of the failure to start a bus; empty if it starts.
  std::string StartBus(const std::string& url) {
    auto bus = MakeNatsBus(loop, {.url = url, .node_url = [](const auto&) { return Result<std::string>("http://h"); }});
    if (!bus) return bus.error().message;
    const auto started = Await(loop, (*bus)->Start());
    return started ? "" : started.error().message;
  }

  loop::EventLoop loop;
};

TEST_F(NatsSecurityTest, ALibraryThatIsMissingIsNamedWithItsPackage) {
  const auto library = NatsLibrary::Load("libnats-of-nobody.so");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, AllOf(HasSubstr("libnats-of-nobody.so"), HasSubstr("package libnats3.4")));
}

TEST_F(NatsSecurityTest, AnotherLibraryIsRefused) {
  const auto library = NatsLibrary::Load("libm.so.6");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("it has no nats"));
  EXPECT_TRUE(NatsLibrary::Load());
}

TEST_F(NatsSecurityTest, SettingsThatCannotBeUsedAreRefused) {
  for (const char* url : {"", "http://host:1", "nats://", "nats://a:1,", "nats://a:1, nats://b:1", "host:4222"}) {
    EXPECT_FALSE(MakeNatsBus(loop, {.url = url})) << url;
  }
  const std::string url = "nats://127.0.0.1:1,tls://[::1]:2";
  EXPECT_TRUE(MakeNatsBus(loop, {.url = url}));
  for (const char* bucket : {"", "a.b", "a b", "*"}) EXPECT_FALSE(MakeNatsBus(loop, {.url = url, .bucket = bucket}));
  EXPECT_FALSE(MakeNatsBus(loop, {.url = url, .credentials_file = "/nonexistent/file"}));
}

TEST_F(NatsSecurityTest, NoMessageHasThePasswordOfAUrl) {
  support::NatsServer server({"--user", "node", "--pass", "right"});
  EXPECT_EQ(StartBus("nats://node:right@" + server.address()), "");
  EXPECT_THAT(StartBus("nats://node:secret@" + server.address()), AllOf(Not(""), Not(HasSubstr("secret"))));
  EXPECT_THAT(StartBus("gnats://node:secret@" + server.address()), AllOf(Not(""), Not(HasSubstr("secret"))));
}

TEST_F(NatsSecurityTest, ACertificateHasToNameTheHost) {
  const support::TestCertificate right, wrong({.names = "DNS:elsewhere.example"});
  for (const auto* certificate : {&right, &wrong}) {
    support::NatsServer server(
        {"--tls", "--tlscert", certificate->certificate_file(), "--tlskey", certificate->key_file()});
    const std::string port = std::to_string(server.port());
    EXPECT_NE(StartBus("tls://localhost:" + port), "") << "the certificate is trusted by nobody";
    ::setenv("SSL_CERT_FILE", certificate->certificate_file().c_str(), 1);
    if (certificate == &right) {
      EXPECT_EQ(StartBus("tls://localhost:" + port), "");
      EXPECT_EQ(StartBus("tls://127.0.0.1:" + port), "");
    } else {
      EXPECT_THAT(StartBus("tls://localhost:" + port), HasSubstr("mismatch"));
      EXPECT_THAT(StartBus("tls://127.0.0.1:" + port), HasSubstr("mismatch"));
    }
    ::unsetenv("SSL_CERT_FILE");
  }
}

TEST_F(NatsSecurityTest, AServerWithoutTlsIsRefusedByATlsUrl) {
  support::NatsServer server;
  EXPECT_NE(StartBus("tls://" + server.address()), "");
}

}  // namespace
}  // namespace holdfast::rendezvous
