#include "sandbox/proxy/routes.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<ProxyRoutes> RoutesOf(const std::vector<std::string>& environment, std::vector<uint16_t> ports = {}) {
  std::vector<const char*> entries;
  for (const std::string& entry : environment) entries.push_back(entry.c_str());
  entries.push_back(nullptr);
  return FindProxyRoutes(entries.data(), ports);
}

// The endpoint that a single variable names, and the value of the variable inside with a listener on port 5.
struct Seen {
  ProxyEndpoint endpoint;
  std::string inside;

  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {
    *out << static_cast<int>(seen.endpoint.host) << ":" << seen.endpoint.port << " " << seen.inside;
  }
};

std::optional<Seen> See(const std::string& value) {
  const auto routes = RoutesOf({"HTTP_PROXY=" + value});
  if (!routes) return std::nullopt;
  EXPECT_EQ(routes->endpoints.size(), 1u);
  EXPECT_EQ(routes->variables.size(), 1u);
  return Seen{routes->endpoints[0], ValueInside(routes->variables[0], 5)};
}

constexpr auto kLocalhost = LoopbackHost::kLocalhost;
constexpr auto kIpv4 = LoopbackHost::kIpv4;
constexpr auto kIpv6 = LoopbackHost::kIpv6;

TEST(ProxyRoutesTest, KeepsEverythingOfAValueButTheAddress) {
  EXPECT_EQ(See("http://127.0.0.1:3128"), (Seen{{kIpv4, 3128}, "http://127.0.0.1:5"}));
  EXPECT_EQ(See("http://127.0.0.1:3128/"), (Seen{{kIpv4, 3128}, "http://127.0.0.1:5/"}));
  EXPECT_EQ(See("127.0.0.1:3128"), (Seen{{kIpv4, 3128}, "127.0.0.1:5"}));
  EXPECT_EQ(See("socks5h://user:p%40ss@localhost:9/a/b?c=d#e"),
            (Seen{{kLocalhost, 9}, "socks5h://user:p%40ss@127.0.0.1:5/a/b?c=d#e"}));
  EXPECT_EQ(See("user@[::1]:65535?x"), (Seen{{kIpv6, 65535}, "user@127.0.0.1:5?x"}));
  EXPECT_EQ(See("HTTP://LocalHost:1#f"), (Seen{{kLocalhost, 1}, "HTTP://127.0.0.1:5#f"}));
  EXPECT_EQ(See("a@b:c@127.0.0.1:7"), (Seen{{kIpv4, 7}, "a@b:c@127.0.0.1:5"}));
}

TEST(ProxyRoutesTest, DropsBlanksAroundAValue) {
  EXPECT_EQ(See(" \thttp://127.0.0.1:8 \r\n"), (Seen{{kIpv4, 8}, "http://127.0.0.1:5"}));
}

TEST(ProxyRoutesTest, KnowsThePortOfAScheme) {
  EXPECT_EQ(See("http://localhost")->endpoint.port, 80);
  EXPECT_EQ(See("localhost")->endpoint.port, 80);
  EXPECT_EQ(See("localhost:")->endpoint.port, 80);
  EXPECT_EQ(See("HTTPS://localhost/")->endpoint.port, 443);
  EXPECT_EQ(See("https://[::1]")->endpoint.port, 443);
  for (const char* scheme : {"socks", "socks4a", "socks5", "SOCKS5h"}) {
    EXPECT_EQ(See(fmt::format("{}://localhost", scheme))->endpoint.port, 1080) << scheme;
  }
  EXPECT_EQ(See("https://u:p@localhost?")->inside, "https://u:p@127.0.0.1:5?");
}

TEST(ProxyRoutesTest, TakesNoOtherHostForTheLoopback) {
  for (const char* value : {
           "http://10.1.2.3:8080",
           "http://proxy.example",
           "http://localhost.example:1",
           "http://127.0.0.2:1",
           "http://127.0.0.1.:1",
           "http://0.0.0.0:1",
           "http://[::]:1",
           "http://::1:1",
           "http://[::1",
           "http://[]:1",
           "http://[::1]x:1",
           "http://localhost@evil:1",
           "http://127.0.0.1:1@evil",
           "http://evil/@127.0.0.1:1",
           "http://evil?@127.0.0.1:1",
           "http://evil#@127.0.0.1:1",
           "http://evil\\@127.0.0.1:1",
           "http://127.0.0.1\\@evil",
           "evil://",
           "://127.0.0.1:1",
           "http:127.0.0.1:1",
           "http:///127.0.0.1:1",
           "[",
           "@",
           ":",
           ":80",
       }) {
    EXPECT_EQ(See(value), std::nullopt) << value;
  }
}

TEST(ProxyRoutesTest, TakesNothingElseForAPort) {
  for (const char* port : {"0", "65536", "99999999999999999999", "-1", "+1", "8x", "x", " 8", "8:9", "8@"}) {
    EXPECT_EQ(See(fmt::format("http://localhost:{}", port)), std::nullopt) << port;
  }
}

TEST(ProxyRoutesTest, LooksAtEveryVariableThatToolsKnowInAnyCase) {
  const std::vector<std::string> names = {"HTTP_PROXY",
                                          "https_proxy",
                                          "Ws_Proxy",
                                          "WSS_PROXY",
                                          "all_proxy",
                                          "FTP_PROXY",
                                          "YARN_HTTP_PROXY",
                                          "yarn_https_proxy",
                                          "NPM_CONFIG_PROXY",
                                          "npm_config_http_proxy",
                                          "npm_config_https_proxy",
                                          "BUNDLE_HTTP_PROXY",
                                          "BUNDLE_HTTPS_PROXY",
                                          "PIP_PROXY",
                                          "DOCKER_HTTP_PROXY",
                                          "docker_https_proxy"};
  std::vector<std::string> environment, seen;
  for (const std::string& name : names) environment.push_back(name + "=localhost:1");
  const auto routes = RoutesOf(environment);
  ASSERT_TRUE(routes);
  for (const ProxyVariable& variable : routes->variables) seen.push_back(variable.name);
  EXPECT_EQ(seen, names);
}

TEST(ProxyRoutesTest, HasOneEndpointForAllThatNameIt) {
  const auto routes = RoutesOf({"HTTP_PROXY=http://localhost:1", "HTTPS_PROXY=http://localhost:2/",
                                "ALL_PROXY=socks5://localhost:1", "FTP_PROXY=http://127.0.0.1:1"});
  ASSERT_TRUE(routes);
  EXPECT_THAT(routes->endpoints,
              ElementsAre(ProxyEndpoint{kLocalhost, 1}, ProxyEndpoint{kLocalhost, 2}, ProxyEndpoint{kIpv4, 1}));
  EXPECT_THAT(
      routes->variables,
      ElementsAre(ProxyVariable{"HTTP_PROXY", "http://", "", 0}, ProxyVariable{"HTTPS_PROXY", "http://", "/", 1},
                  ProxyVariable{"ALL_PROXY", "socks5://", "", 0}, ProxyVariable{"FTP_PROXY", "http://", "", 2}));
}

TEST(ProxyRoutesTest, LeavesOthersAlone) {
  const auto routes = RoutesOf({"NO_PROXY=localhost:1", "HTTP_PROXY_=localhost:1", "MY_HTTP_PROXY=localhost:1", "",
                                "=localhost:1", "PIP_PROXY", "HTTPS_PROXY=http://far.example", "WS_PROXY=localhost:7"});
  ASSERT_TRUE(routes);
  ASSERT_EQ(routes->variables.size(), 1u);
  EXPECT_EQ(routes->variables[0].name, "WS_PROXY");
}

TEST(ProxyRoutesTest, NeedsAVariable) {
  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{}, {"PATH=/bin"}, {"HTTP_PROXY="}, {"https_proxy=  "}, {"HTTP_PROXY"}}) {
    const auto routes = RoutesOf(environment);
    ASSERT_FALSE(routes);
    EXPECT_EQ(routes.error().message, "managed proxy mode requires proxy environment variables");
  }
}

TEST(ProxyRoutesTest, NeedsAProxyOnTheLoopback) {
  const auto routes = RoutesOf({"HTTP_PROXY=http://10.1.2.3:8080", "HTTPS_PROXY="});
  ASSERT_FALSE(routes);
  EXPECT_EQ(routes.error().message, "managed proxy mode requires parseable loopback proxy endpoints");
}

TEST(ProxyRoutesTest, KeepsToThePortsItIsGiven) {
  const std::vector<std::string> environment = {"HTTP_PROXY=localhost:22", "HTTPS_PROXY=localhost:3128"};
  const auto routes = RoutesOf(environment, {3128, 1080});
  ASSERT_TRUE(routes);
  EXPECT_THAT(routes->endpoints, ElementsAre(ProxyEndpoint{kLocalhost, 3128}));
  ASSERT_EQ(routes->variables.size(), 1u);
  EXPECT_EQ(routes->variables[0].name, "HTTPS_PROXY");
  const auto none = RoutesOf(environment, {1080});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("one of the ports"));
}

TEST(ProxyRoutesTest, RefusesMoreEndpointsThanOneMessageHolds) {
  std::vector<std::string> environment;
  for (size_t port = 1; port <= kMaxProxyEndpoints; ++port) {
    environment.push_back(fmt::format("HTTP_PROXY=localhost:{}", port));
  }
  EXPECT_TRUE(RoutesOf(environment));
  environment.push_back("HTTP_PROXY=localhost:1");  // an endpoint that is in the list already
  EXPECT_TRUE(RoutesOf(environment));
  environment.push_back("HTTP_PROXY=localhost:9999");
  const auto routes = RoutesOf(environment);
  ASSERT_FALSE(routes);
  EXPECT_EQ(routes.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace holdfast::sandbox
