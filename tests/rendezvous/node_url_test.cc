#include "rendezvous/node_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/config_check.h"

namespace holdfast::rendezvous {
namespace {

using testing::HasSubstr;

constexpr char kSeen[] = "192.0.2.7";

RendezvousConfig Config(const std::string& listen, const std::string& advertise = "") {
  return {.listen = listen, .tokens_file = "t", .bus = "nats://127.0.0.1:4222", .advertise = advertise};
}

// Returns the URL of a node that listens on port 8070, or why it has none.
std::string UrlOf(const RendezvousConfig& config) {
  const auto url = NodeUrl(config, 8070)([] { return Result<std::string>(kSeen); });
  return url ? *url : url.error().message;
}

RendezvousConfig WithTls(RendezvousConfig config) {
  config.tls_cert = config.tls_key = "pem";
  return config;
}

TEST(NodeUrlTest, IsTheAddressThatTheNodeListensOn) {
  EXPECT_EQ(UrlOf(Config("127.0.0.1:0")), "http://127.0.0.1:8070");
  EXPECT_EQ(UrlOf(WithTls(Config("192.0.2.1:0"))), "https://192.0.2.1:8070");
  EXPECT_EQ(UrlOf(WithTls(Config("[2001:db8::1]:0"))), "https://[2001:db8::1]:8070");
}

TEST(NodeUrlTest, IsTheAddressThatNatsSeesIfTheNodeListensOnEvery) {
  EXPECT_EQ(UrlOf(WithTls(Config("0.0.0.0:0"))), "https://192.0.2.7:8070");
  EXPECT_EQ(UrlOf(WithTls(Config("[::]:0"))), "https://192.0.2.7:8070");
}

TEST(NodeUrlTest, IsWhatTheUserSays) {
  EXPECT_EQ(UrlOf(Config("127.0.0.1:0", "https://rv-1.example.org/base")), "https://rv-1.example.org/base");
}

TEST(NodeUrlTest, IsRefusedIfOthersCouldReadWhatIsSent) {
  EXPECT_THAT(UrlOf(Config("0.0.0.0:0")), HasSubstr("the other nodes would dial this one at http://192.0.2.7:8070"));
  for (const RendezvousConfig& config : {Config("192.0.2.1:0"), Config("127.0.0.1:0", "http://rv-1.example.org")}) {
    const auto checked = CheckConfig(config);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr("--insecure-node-http"));
    RendezvousConfig insecure = config;
    insecure.insecure_node_http = true;
    EXPECT_TRUE(CheckConfig(insecure));
  }
  EXPECT_TRUE(CheckConfig(WithTls(Config("192.0.2.1:0"))));
  EXPECT_TRUE(CheckConfig(Config("0.0.0.0:0")));  // NATS is asked first
}

TEST(NodeUrlTest, MistakesAreFoundBeforeTheStart) {
  for (const char* url :
       {"rv-1.example.org", "ws://127.0.0.1", "unix:///x", "http://", "https://h?q", "https://h#f", "https://u:p@h"}) {
    EXPECT_FALSE(CheckConfig(Config("127.0.0.1:0", url))) << url;
  }
  RendezvousConfig alone = Config("127.0.0.1:0", "https://rv-1.example.org");
  alone.bus = "memory";
  EXPECT_FALSE(CheckConfig(alone));
}

}  // namespace
}  // namespace holdfast::rendezvous
