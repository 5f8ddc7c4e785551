#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client_fixture.h"

namespace holdfast::http {
namespace {

using support::EchoRequest;
using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ClientProxyTest : public ClientFixture {
 protected:
  void Set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

  // Returns whether the request for `url` went through the proxy. The answer arrives either way.
  bool IsUsedFor(const std::string& url) {
    const size_t before = proxy_.arrivals().size();
    EXPECT_TRUE(Ask(Get(url))->succeeded());
    return proxy_.arrivals().size() > before;
  }

  HttpServer server_{EchoRequest};
  HttpServer proxy_{[](const HttpArrival&, HttpPeer& peer) { peer.Answer(200, "via proxy"); }};
};

TEST_F(ClientProxyTest, IsAskedForTheWholeUrl) {
  Set("http_proxy", proxy_.Url());
  const auto asked =
      Ask({.method = "GET", .url = "http://nowhere.invalid/x?y", .headers = {{"X-K", "1"}, {"Authorization", "A"}}});
  EXPECT_EQ(asked->body, "via proxy");
  const HttpArrival arrival = proxy_.arrivals().at(0);
  EXPECT_EQ(arrival.target, "http://nowhere.invalid/x?y");
  EXPECT_EQ(arrival.Header("host"), "nowhere.invalid");
  EXPECT_EQ(arrival.Header("x-k"), "1");
  EXPECT_EQ(arrival.Header("authorization"), "A");
}

TEST_F(ClientProxyTest, GetsItsOwnPassword) {
  Set("http_proxy", "http://u:p@" + proxy_.Authority());
  EXPECT_TRUE(IsUsedFor("http://nowhere.invalid/"));
  EXPECT_EQ(proxy_.arrivals().at(0).Header("proxy-authorization"), "Basic dTpw");
}

TEST_F(ClientProxyTest, IsNamedInCapitalsToo) {
  for (const char* name : {"HTTP_PROXY", "ALL_PROXY", "all_proxy"}) {
    Set(name, proxy_.Url());
    EXPECT_TRUE(IsUsedFor(server_.Url())) << name;
    ::unsetenv(name);
    EXPECT_FALSE(IsUsedFor(server_.Url()));
  }
}

TEST_F(ClientProxyTest, IsNotNamedByTheClientOfACgi) {
  Set("HTTP_PROXY", proxy_.Url());
  Set("REQUEST_METHOD", "GET");
  EXPECT_FALSE(IsUsedFor(server_.Url()));
}

TEST_F(ClientProxyTest, IsNamedInSmallLettersFirst) {
  Set("http_proxy", proxy_.Url());
  Set("HTTP_PROXY", "http://127.0.0.1:1");
  EXPECT_TRUE(IsUsedFor(server_.Url()));
  Set("http_proxy", "");
  Set("HTTP_PROXY", proxy_.Url());
  EXPECT_TRUE(IsUsedFor(server_.Url()));
}

TEST_F(ClientProxyTest, IsNotUsedForTheOtherScheme) {
  Set("https_proxy", proxy_.Url());
  EXPECT_FALSE(IsUsedFor(server_.Url()));
}

TEST_F(ClientProxyTest, IsNotUsedForHostsThatAreExcepted) {
  for (const char* proxy : {"http_proxy", "HTTP_PROXY"}) {
    Set(proxy, proxy_.Url());
    for (const char* exception : {"no_proxy", "NO_PROXY"}) {
      Set(exception, "localhost,127.0.0.1");
      EXPECT_FALSE(IsUsedFor(server_.Url())) << proxy << " " << exception;
      EXPECT_TRUE(IsUsedFor("http://nowhere.invalid/"));
      ::unsetenv(exception);
    }
    ::unsetenv(proxy);
  }
}

TEST_F(ClientProxyTest, RefusesATunnelWithoutBeingTakenForTheServer) {
  HttpServer closed([](const HttpArrival&, HttpPeer& peer) { peer.Answer(403, "no"); });
  Set("https_proxy", closed.Url());
  const auto asked = Ask({.method = "GET", .url = "https://nowhere.invalid/x", .headers = {{"X-Secret", "1"}}});
  EXPECT_FALSE(asked->response);
  EXPECT_THAT(asked->error(), StartsWith("http/request GET https://nowhere.invalid/x: "));
  EXPECT_THAT(asked->error(), HasSubstr("403"));
  const HttpArrival arrival = closed.arrivals().at(0);
  EXPECT_EQ(arrival.method, "CONNECT");
  EXPECT_EQ(arrival.target, "nowhere.invalid:443");
  EXPECT_EQ(arrival.Header("x-secret"), std::nullopt);
}

TEST_F(ClientProxyTest, KeepsItsPasswordOutOfMessages) {
  for (const char* proxy : {"bogus://user:secret@127.0.0.1:1", "http://user:secret@:::"}) {
    Set("http_proxy", proxy);
    const auto asked = Ask(Get(server_.Url()));
    EXPECT_FALSE(asked->succeeded());
    EXPECT_THAT(asked->error(), Not(HasSubstr("secret"))) << proxy;
  }
}

}  // namespace
}  // namespace holdfast::http
