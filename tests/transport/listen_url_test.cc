#include "transport/listen_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

using ::testing::HasSubstr;

WebSocketUrl WebSocket(std::string_view text) {
  const auto url = ParseListenUrl(text);
  if (!url || !std::holds_alternative<WebSocketUrl>(*url)) {
    ADD_FAILURE() << text << " is no WebSocket address";
    return {};
  }
  return std::get<WebSocketUrl>(*url);
}

TEST(ListenUrlTest, ReadsIpv4AndPort) {
  const WebSocketUrl url = WebSocket("ws://127.0.0.1:8080");
  EXPECT_EQ(url.ip, "127.0.0.1");
  EXPECT_EQ(url.port, 8080);
}

TEST(ListenUrlTest, ReadsIpv6WithoutItsBrackets) {
  const WebSocketUrl url = WebSocket("ws://[2001:db8::1]:65535");
  EXPECT_EQ(url.ip, "2001:db8::1");
  EXPECT_EQ(url.port, 65535);
}

TEST(ListenUrlTest, KnowsLoopback) {
  for (const char* text : {"ws://127.0.0.1:0", "ws://127.255.0.9:0", "ws://[::1]:0"}) {
    EXPECT_TRUE(WebSocket(text).loopback) << text;
  }
  for (const char* text : {"ws://0.0.0.0:0", "ws://128.0.0.1:0", "ws://[::]:0", "ws://[fe80::1]:0"}) {
    EXPECT_FALSE(WebSocket(text).loopback) << text;
  }
}

TEST(ListenUrlTest, ReadsUnixPath) {
  const auto url = ParseListenUrl("unix:///run/holdfast.sock");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(std::get<UnixUrl>(*url).path, "/run/holdfast.sock");
}

TEST(ListenUrlTest, ReadsBothSpellingsOfStdio) {
  for (const char* text : {"stdio", "stdio://"}) {
    const auto url = ParseListenUrl(text);
    ASSERT_TRUE(url.has_value()) << text;
    EXPECT_TRUE(std::holds_alternative<StdioUrl>(*url)) << text;
  }
}

TEST(ListenUrlTest, TakesTheLongestPathASocketAddressHolds) {
  EXPECT_TRUE(ParseListenUrl("unix:///" + std::string(106, 'x')).has_value());
  EXPECT_FALSE(ParseListenUrl("unix:///" + std::string(107, 'x')).has_value());
}

TEST(ListenUrlTest, RefusesEverythingElseAndNamesIt) {
  for (const std::string text : {"",
                                 "ws://",
                                 "ws://localhost:0",
                                 "ws://127.0.0.1",
                                 "ws://127.0.0.1:",
                                 "ws://127.0.0.1:0/",
                                 "ws://127.0.0.1:65536",
                                 "ws://127.0.0.1:-1",
                                 "ws://127.0.0.1:+1",
                                 "ws://127.0.0.1: 1",
                                 "ws://127.0.0.1:1x",
                                 "ws://127.1:1",
                                 "ws://:1",
                                 "ws://::1:1",
                                 "ws://[::1]",
                                 "ws://[::1]1:1",
                                 "ws://[127.0.0.1]:1",
                                 "ws://[::1%lo]:1",
                                 "ws://[]:1",
                                 "ws://[:1",
                                 "ws://user@127.0.0.1:1",
                                 "WS://127.0.0.1:1",
                                 "wss://127.0.0.1",
                                 "wss://localhost:1",
                                 "http://127.0.0.1:1",
                                 "unix://",
                                 "unix://run/x.sock",
                                 "unix:/run/x.sock",
                                 "stdio:",
                                 "stdio:///",
                                 "127.0.0.1:1",
                                 " stdio"}) {
    const auto url = ParseListenUrl(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_THAT(url.error().message, HasSubstr("'" + text + "'"));
  }
}

TEST(ListenUrlTest, RefusesAnEmbeddedNul) {
  EXPECT_FALSE(ParseListenUrl(std::string_view("ws://127.0.0.1\0:1", 17)).has_value());
  EXPECT_FALSE(ParseListenUrl(std::string_view("unix:///a\0b", 11)).has_value());
}

TEST(ListenUrlTest, KnowsWhichPortsAreEncrypted) {
  EXPECT_EQ(WebSocket("ws://127.0.0.1:1").security, Security::kPlain);
  EXPECT_EQ(WebSocket("wss://127.0.0.1:1").security, Security::kTls);
}

TEST(ListenUrlTest, SaysOfWhichKindAnErrorIs) {
  using Kind = ListenUrlError::Kind;
  const auto kind_of = [](std::string_view text) { return ParseListenUrl(text).error().kind; };
  EXPECT_EQ(kind_of("http://127.0.0.1:1"), Kind::kUnknownScheme);
  EXPECT_EQ(kind_of("wss://localhost:1"), Kind::kNoSocketAddress);
  EXPECT_EQ(kind_of("unix://relative"), Kind::kNoAbsolutePath);
  EXPECT_EQ(kind_of("unix:///" + std::string(200, 'x')), Kind::kPathTooLong);
  EXPECT_TRUE(ParseListenUrl("unix:///" + std::string(200, 'x') + "/s"));  // through its directory
}

TEST(ListenUrlTest, HasAnErrorThatIsAlsoAPlainError) {
  const Error error(ParseListenUrl("x").error());
  EXPECT_EQ(error.kind, ErrorKind::kInvalidParams);
  EXPECT_EQ(error.message, ParseListenUrl("x").error().message);
}

}  // namespace
}  // namespace holdfast::transport
