#include "exec_policy/network_hosts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string HostOf(std::string_view text) {
  const auto rule = ParseNetworkRule(text, "https", "allow");
  return rule ? rule->host : "error: " + rule.error().message;
}

TEST(NetworkRuleTest, HostsAreWrittenInOneForm) {
  EXPECT_EQ(HostOf(" Api.GitHub.com\t"), "api.github.com");
  EXPECT_EQ(HostOf("a.com:443"), "a.com");
  EXPECT_EQ(HostOf("a.com.."), "a.com");
  EXPECT_EQ(HostOf("a.com.:80"), "a.com");
  EXPECT_EQ(HostOf("[::1]:80"), "::1");
  EXPECT_EQ(HostOf("[::1]"), "::1");
  EXPECT_EQ(HostOf("fe80::1"), "fe80::1");
}

TEST(NetworkRuleTest, RefusesWhatIsNoHost) {
  EXPECT_THAT(HostOf("http://a.com"), HasSubstr("scheme"));
  EXPECT_THAT(HostOf("a.com/b"), HasSubstr("path"));
  EXPECT_THAT(HostOf("*.a.com"), HasSubstr("wildcard"));
  EXPECT_THAT(HostOf("a b"), HasSubstr("blank"));
  for (const char* text : {"", "  ", ".", "[]", ":80", "[::1", "[::1]x", "[::1]:x", "a.com:x", "a.com:70000", "a]b"}) {
    EXPECT_THAT(HostOf(text), HasSubstr("error: the host")) << text;
  }
}

TEST(NetworkRuleTest, KnowsTheProtocolsByAllTheirNames) {
  for (const char* protocol : {"http", "https", "https_connect", "http-connect", "socks5_tcp", "socks5_udp"}) {
    EXPECT_TRUE(ParseNetworkRule("a.com", protocol, "allow")) << protocol;
  }
  for (const char* protocol : {"", "HTTP", "ftp"}) {
    EXPECT_THAT(ParseNetworkRule("a.com", protocol, "allow").error().message, HasSubstr("protocol")) << protocol;
  }
}

TEST(NetworkRuleTest, DenyAndForbiddenAreTheSame) {
  EXPECT_EQ(ParseNetworkRule("a.com", "http", "deny")->decision, NetworkDecision::kDeny);
  EXPECT_EQ(ParseNetworkRule("a.com", "http", "forbidden")->decision, NetworkDecision::kDeny);
  EXPECT_EQ(ParseNetworkRule("a.com", "http", "prompt")->decision, NetworkDecision::kPrompt);
  EXPECT_THAT(ParseNetworkRule("a.com", "http", "maybe").error().message, HasSubstr("decision"));
}

TEST(NetworkHostsTest, TheLastRuleAboutAHostWins) {
  using enum NetworkDecision;
  const std::vector<NetworkRule> rules = {{"a", kAllow}, {"b", kDeny}, {"a", kDeny}, {"c", kAllow}, {"b", kAllow}};
  const NetworkHosts hosts = CompileNetworkRules(rules);
  EXPECT_THAT(hosts.allowed, ElementsAre("c", "b"));
  EXPECT_THAT(hosts.denied, ElementsAre("a"));
}

TEST(NetworkHostsTest, ARuleThatPromptsChangesNothing) {
  using enum NetworkDecision;
  const std::vector<NetworkRule> rules = {{"a", kAllow}, {"a", kPrompt}, {"b", kPrompt}};
  const NetworkHosts hosts = CompileNetworkRules(rules);
  EXPECT_THAT(hosts.allowed, ElementsAre("a"));
  EXPECT_THAT(hosts.denied, IsEmpty());
}

}  // namespace
}  // namespace holdfast::exec_policy
