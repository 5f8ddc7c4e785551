#include "transport/proxy.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

const WebSocketServer kPlain{.host = "a.example", .port = 8080};
const WebSocketServer kTls{.security = Security::kTls, .host = "a.example", .port = 443};

// Returns HOST:PORT of the proxy, "none", or "error".
std::string ProxyOf(const ProxySettings& settings, const WebSocketServer& server) {
  const auto proxy = ProxyFor(settings, server);
  if (!proxy) return "error";
  return *proxy ? (*proxy)->host + ":" + std::to_string((*proxy)->port) : "none";
}

std::string ProxyOfHost(const std::string& none, std::string host, uint16_t port = 80) {
  return ProxyOf({.all = "proxy", .none = none}, {.host = std::move(host), .port = port});
}

TEST(ProxyTest, IsThatOfTheScheme) {
  const ProxySettings settings{.http = "http://plain:1", .https = "http://secure:2", .all = "http://other:3"};
  EXPECT_EQ(ProxyOf(settings, kPlain), "plain:1");
  EXPECT_EQ(ProxyOf(settings, kTls), "secure:2");
  EXPECT_EQ(ProxyOf({.all = "http://other:3"}, kPlain), "other:3");
  EXPECT_EQ(ProxyOf({.https = "http://secure:2"}, kPlain), "none");
  EXPECT_EQ(ProxyOf({}, kTls), "none");
}

TEST(ProxyTest, IsReadInItsUsualSpellings) {
  EXPECT_EQ(ProxyOf({.http = "proxy:3128"}, kPlain), "proxy:3128");
  EXPECT_EQ(ProxyOf({.http = "http://proxy:3128/"}, kPlain), "proxy:3128");
  EXPECT_EQ(ProxyOf({.http = " http://proxy "}, kPlain), "proxy:80");
  EXPECT_EQ(ProxyOf({.http = "http://[::1]:3128"}, kPlain), "::1:3128");
}

TEST(ProxyTest, MayHaveCredentials) {
  const auto proxy = ProxyFor({.http = "http://me:p%40ss@proxy:1"}, kPlain);
  ASSERT_TRUE(proxy.has_value());
  EXPECT_EQ(*proxy, (Proxy{.host = "proxy", .port = 1, .credentials = "me:p@ss"}));
}

TEST(ProxyTest, IsRefusedWithoutShowingItsPassword) {
  for (const char* text : {"socks5://proxy:1", "https://proxy:1", "http://proxy:x", "http://", "http://proxy/path",
                           "https://me:secret@proxy:443", "socks5://me:secret@proxy:1", "http://https://me:s@proxy"}) {
    EXPECT_EQ(ProxyOf({.http = text}, kPlain), "error") << text;
  }
  const auto proxy = ProxyFor({.http = "http://me:secret@proxy:x"}, kPlain);
  ASSERT_FALSE(proxy.has_value());
  EXPECT_EQ(proxy.error().message, "proxy 'proxy:x': write http://HOST:PORT");
}

TEST(ProxyTest, IsNotUsedForThisMachine) {
  for (const char* host : {"127.0.0.1", "127.3.2.1", "::1", "localhost", "LOCALHOST", "app.localhost"}) {
    EXPECT_EQ(ProxyOfHost("", host), "none") << host;
  }
  EXPECT_EQ(ProxyOfHost("", "localhost.example"), "proxy:80");
}

TEST(ProxyTest, IsNotUsedForExceptedHosts) {
  for (const char* none : {"*", "a.example", "x, A.Example ,y", ".a.example", "example", ".example", "a.example:80"}) {
    EXPECT_EQ(ProxyOfHost(none, "a.example"), "none") << none;
  }
  for (const char* none : {"", ",", "b.example", "xample", "b.a.example", "a.example:81", "."}) {
    EXPECT_EQ(ProxyOfHost(none, "a.example"), "proxy:80") << none;
  }
  EXPECT_EQ(ProxyOfHost("10.0.0.1", "10.0.0.1"), "none");
  EXPECT_EQ(ProxyOfHost("[fe80::1]:80", "fe80::1"), "none");
}

class ProxyEnvironmentTest : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",   "all_proxy",
                                           "ALL_PROXY",  "no_proxy",   "NO_PROXY",    "REQUEST_METHOD"};

  ProxyEnvironmentTest() {
    for (const char* name : kNames) ::unsetenv(name);
  }
  ~ProxyEnvironmentTest() override {
    for (const char* name : kNames) ::unsetenv(name);
  }
};

TEST_F(ProxyEnvironmentTest, ReadsBothSpellings) {
  ::setenv("HTTP_PROXY", "a", 1);
  ::setenv("https_proxy", "b", 1);
  ::setenv("HTTPS_PROXY", "not used", 1);
  ::setenv("ALL_PROXY", "c", 1);
  ::setenv("no_proxy", "", 1);
  ::setenv("NO_PROXY", "d", 1);
  const ProxySettings settings = ProxiesFromEnvironment();
  EXPECT_EQ(settings.http, "a");
  EXPECT_EQ(settings.https, "b");
  EXPECT_EQ(settings.all, "c");
  EXPECT_EQ(settings.none, "d");
}

TEST_F(ProxyEnvironmentTest, DoesNotTrustAHeaderOfACgiRequest) {
  ::setenv("REQUEST_METHOD", "GET", 1);
  ::setenv("HTTP_PROXY", "a", 1);
  EXPECT_EQ(ProxiesFromEnvironment().http, "");
  ::setenv("http_proxy", "b", 1);
  EXPECT_EQ(ProxiesFromEnvironment().http, "b");
}

TEST(ProxyAnswerTest, IsCompleteAtItsEmptyLine) {
  const std::string answer = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";
  for (size_t size = 0; size < answer.size(); ++size) {
    const auto line = StatusLineOf(answer.substr(0, size));
    ASSERT_TRUE(line.has_value()) << size;
    ASSERT_FALSE(line->has_value()) << size;
  }
  EXPECT_EQ(StatusLineOf(answer).value(), "HTTP/1.1 200 Connection established");
}

TEST(ProxyAnswerTest, MayHaveABodyOnlyIfItRefuses) {
  EXPECT_EQ(StatusLineOf("HTTP/1.0 407 No\r\n\r\nbody").value(), "HTTP/1.0 407 No");
  EXPECT_FALSE(StatusLineOf("HTTP/1.1 200 OK\r\n\r\nbody").has_value());
}

TEST(ProxyAnswerTest, MustBeHttpAndShort) {
  for (const char* answer :
       {"SSH-2.0\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1x200 OK\r\n\r\n"}) {
    EXPECT_FALSE(StatusLineOf(answer).has_value()) << answer;
  }
  EXPECT_FALSE(StatusLineOf("HTTP/1.1 200 " + std::string(10'000, 'x')).has_value());
}

}  // namespace
}  // namespace holdfast::transport
