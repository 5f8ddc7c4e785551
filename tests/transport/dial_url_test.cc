#include "transport/dial_url.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

WebSocketServer WebSocketOf(std::string_view text) {
  const auto url = ParseServerUrl(text);
  if (!url) ADD_FAILURE() << url.error().message;
  return url ? std::get<WebSocketServer>(*url) : WebSocketServer();
}

TEST(DialUrlTest, ReadsHostPortAndPath) {
  const WebSocketServer expected{
      .security = Security::kPlain, .host = "build.example", .port = 8080, .target = "/secret?x=1"};
  EXPECT_EQ(WebSocketOf("ws://build.example:8080/secret?x=1"), expected);
}

TEST(DialUrlTest, HasARootPathIfNoneIsGiven) {
  EXPECT_EQ(WebSocketOf("ws://a:1").target, "/");
  EXPECT_EQ(WebSocketOf("ws://a:1?q").target, "/?q");
}

TEST(DialUrlTest, HasAUsualPortForEachScheme) {
  EXPECT_EQ(WebSocketOf("ws://a/b").port, 80);
  EXPECT_EQ(WebSocketOf("wss://a/b").port, 443);
  EXPECT_EQ(WebSocketOf("wss://a/b").security, Security::kTls);
}

TEST(DialUrlTest, TakesTheSchemesOfARendezvousForThoseOfAWebSocket) {
  EXPECT_EQ(WebSocketOf("https://hub.example/executors/e"), WebSocketOf("wss://hub.example:443/executors/e"));
  EXPECT_EQ(WebSocketOf("http://hub.example:8080/executors/e"), WebSocketOf("ws://hub.example:8080/executors/e"));
  EXPECT_EQ(WebSocketOf("http://hub.example").port, 80);
}

TEST(DialUrlTest, TakesTheBracketsOffAnIpv6Address) {
  EXPECT_EQ(WebSocketOf("ws://[::1]:81").host, "::1");
  EXPECT_EQ(WebSocketOf("ws://[::1]:81").port, 81);
  EXPECT_EQ(WebSocketOf("wss://[2001:db8::1]/x").port, 443);
}

TEST(DialUrlTest, ReadsTheSocketPath) {
  const auto url = ParseServerUrl("unix:///run/holdfast.sock");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(std::get<UnixServer>(*url).path, "/run/holdfast.sock");
}

TEST(DialUrlTest, NamesTheServerWithoutItsSecret) {
  EXPECT_EQ(NameOf(WebSocketOf("ws://a:1/secret")), "a:1");
  EXPECT_EQ(NameOf(WebSocketOf("ws://[::1]:1/secret")), "[::1]:1");
  EXPECT_EQ(NameOf(UnixServer{"/run/x"}), "/run/x");
}

TEST(DialUrlTest, ListsTheSchemesItKnows) {
  const auto url = ParseServerUrl("gopher://a:1");
  ASSERT_FALSE(url.has_value());
  EXPECT_EQ(url.error().kind, ErrorKind::kInvalidParams);
  EXPECT_EQ(url.error().message,
            "server address 'gopher://a:1': not one of ws://HOST:PORT, wss://HOST:PORT, http://HOST, https://HOST, "
            "unix:///PATH");
}

TEST(DialUrlTest, ShowsNoSecretOfAnAddressThatItRefuses) {
  for (const char* text : {"ws://a:99999/5ecre7", "ws://a:1 2/5ecre7", "ws://a:1/5ecre7 x", "ws://a:x?5ecre7",
                           "ws://a:1#5ecre7", "htp://a/5ecre7", "a:1/5ecre7", "ws://me:5ecre7@a:1"}) {
    const auto url = ParseServerUrl(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_FALSE(url.error().message.contains("5ecre7")) << url.error().message;
  }
  EXPECT_EQ(ParseServerUrl("ws://a:99999/5ecre7").error().message,
            "server address 'ws://a:99999/...': write ws://HOST:PORT, with a path if the server has one");
}

class DialUrlRefusalTest : public testing::TestWithParam<std::string> {};

TEST_P(DialUrlRefusalTest, IsRefused) { EXPECT_FALSE(ParseServerUrl(GetParam()).has_value()); }

INSTANTIATE_TEST_SUITE_P(Texts, DialUrlRefusalTest,
                         testing::Values("", "ws://", "ws://:80", "ws:///path", "ws://a:", "ws://a:0", "ws://a:65536",
                                         "ws://a:1x", "ws://user@a:1", "ws://a b:1", "ws://a:1/b c", "ws://a:1/b#c",
                                         "ws://a:1/\r\nX: y", "ws://[::1:80", "ws://[]:80", "ws://[127.0.0.1]:80",
                                         "ws://[::1]x:80", "ws://::1:80", "wss://a:80:90", "unix://relative", "unix://",
                                         "stdio", "unix:///" + std::string(200, 'x')));

}  // namespace
}  // namespace holdfast::transport
