#include "exec_server/processes/managed_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using process::Environment;
using testing::HasSubstr;
using wire::ManagedNetwork;

const Environment kVariables = {{"ALL_PROXY", "socks5h://localhost:1080"}, {"HTTP_PROXY", "http://127.0.0.1:3128"}};

TEST(AgreeOnProxiesTest, LeavesOutPortsThatNoVariableNames) {
  const auto agreed = AgreeOnProxies({.loopback_ports = {{22, 3128, 1080}}}, kVariables);
  ASSERT_TRUE(agreed) << agreed.error().message;
  EXPECT_EQ(*agreed, (ManagedNetwork{.loopback_ports = {{3128, 1080}}}));
}

TEST(AgreeOnProxiesTest, NamesNoPortThatTheClientDoesNotName) {
  const auto agreed = AgreeOnProxies({.loopback_ports = {{1080}}, .allow_local_binding = false}, kVariables);
  ASSERT_TRUE(agreed) << agreed.error().message;
  EXPECT_EQ(*agreed, (ManagedNetwork{.loopback_ports = {{1080}}, .allow_local_binding = false}));
}

TEST(AgreeOnProxiesTest, LeavesTheVariablesToDecideWithoutPorts) {
  for (const ManagedNetwork& asked : {ManagedNetwork{}, ManagedNetwork{.loopback_ports = std::vector<uint16_t>{}},
                                      ManagedNetwork{.allow_local_binding = true}}) {
    const auto agreed = AgreeOnProxies(asked, kVariables);
    ASSERT_TRUE(agreed) << agreed.error().message;
    EXPECT_EQ(*agreed, asked);
  }
}

TEST(AgreeOnProxiesTest, RefusesPortsThatNoVariableNames) {
  for (const Environment& environment : {kVariables, Environment{}, Environment{{"HTTP_PROXY", "http://10.1.2.3:22"}},
                                         Environment{{"PROXY", "localhost:22"}}}) {
    const auto agreed = AgreeOnProxies({.loopback_ports = {{22}}}, environment);
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().kind, ErrorKind::kInvalidParams);
    EXPECT_THAT(agreed.error().message, HasSubstr("managedNetwork: "));
  }
}

TEST(AgreeOnProxiesTest, LimitsTheProxies) {
  Environment environment;
  ManagedNetwork asked{.loopback_ports = std::vector<uint16_t>{}};
  // Each variable is http_proxy in another mix of upper and lower case.
  for (uint16_t port = 1; port <= 65; ++port) {
    std::string name = "http_proxy";
    for (size_t bit = 0; bit < 8; ++bit) {
      if ((port >> bit & 1) != 0 && name[bit] != '_') name[bit] = static_cast<char>(name[bit] - 'a' + 'A');
    }
    environment.emplace_back(name, "localhost:" + std::to_string(port));
    asked.loopback_ports->push_back(port);
  }
  const auto agreed = AgreeOnProxies(asked, environment);
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace holdfast::exec_server
