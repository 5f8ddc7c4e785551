#include "auth/attempt_limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::auth {
namespace {

using std::chrono::seconds;
using Failure = AttemptLimit::Failure;

constexpr AttemptLimit::Clock::time_point kStart{std::chrono::hours(5)};

PeerAddress Address(const std::string& text) {
  sockaddr_storage storage{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (::inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) == 1) {
    storage.ss_family = AF_INET6;
  } else {
    ADD_FAILURE() << text;
  }
  return PeerAddress(storage);
}

void FailUpToTheLimit(AttemptLimit& limit, const PeerAddress& address) {
  for (int i = 0; i < AttemptLimit::kMaxFailures; ++i) limit.Count(address, kStart);
}

TEST(PeerAddressTest, IsThatOfOneMachine) {
  EXPECT_EQ(Address("192.0.2.7"), Address("192.0.2.7"));
  EXPECT_NE(Address("192.0.2.7"), Address("192.0.2.8"));
  EXPECT_EQ(Address("192.0.2.7"), Address("::ffff:192.0.2.7"));
  EXPECT_NE(Address("::ffff:192.0.2.7"), Address("::ffff:192.0.2.8"));
  EXPECT_EQ(Address("2001:db8::1"), Address("2001:db8::ffff:1:2:3"));
  EXPECT_NE(Address("2001:db8::1"), Address("2001:db8:0:1::1"));
}

TEST(PeerAddressTest, KnowsLoopback) {
  for (const char* text : {"127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(Address(text).is_loopback()) << text;
  }
  for (const char* text : {"128.0.0.1", "10.0.0.1", "::2", "::", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(Address(text).is_loopback()) << text;
  }
}

TEST(PeerAddressTest, HasAText) {
  EXPECT_EQ(Address("::ffff:192.0.2.7").text(), "192.0.2.7");
  EXPECT_EQ(Address("2001:db8::1").text(), "2001:db8::/64");
}

TEST(AttemptLimitTest, MakesAnAddressWaitForTheEndOfTheWindow) {
  AttemptLimit limit;
  const PeerAddress address = Address("192.0.2.7");
  for (int i = 1; i < AttemptLimit::kMaxFailures; ++i) {
    limit.Count(address, kStart + seconds(1));
    ASSERT_EQ(limit.WaitOf(address, kStart + seconds(1)), std::nullopt) << i;
  }
  limit.Count(address, kStart + seconds(10));
  EXPECT_EQ(limit.WaitOf(address, kStart + seconds(11)), seconds(50));
  EXPECT_EQ(limit.WaitOf(address, kStart + std::chrono::milliseconds(60'999)), seconds(1));
  EXPECT_EQ(limit.WaitOf(address, kStart + seconds(61)), std::nullopt);
  EXPECT_EQ(limit.Count(address, kStart + seconds(61)), Failure::kFirst);
}

TEST(AttemptLimitTest, SaysOnceThatAnAddressFailsAndOnceThatItHasToWait) {
  AttemptLimit limit;
  const PeerAddress address = Address("192.0.2.7");
  EXPECT_EQ(limit.Count(address, kStart), Failure::kFirst);
  for (int i = 2; i < AttemptLimit::kMaxFailures; ++i) EXPECT_EQ(limit.Count(address, kStart), Failure::kFurther);
  EXPECT_EQ(limit.Count(address, kStart), Failure::kReachesLimit);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.Count(address, kStart), Failure::kBeyondLimit);
}

TEST(AttemptLimitTest, CountsEachAddressForItself) {
  AttemptLimit limit;
  FailUpToTheLimit(limit, Address("2001:db8::1"));
  EXPECT_NE(limit.WaitOf(Address("2001:db8::2"), kStart), std::nullopt);
  EXPECT_EQ(limit.WaitOf(Address("2001:db8:1::1"), kStart), std::nullopt);
  EXPECT_EQ(limit.WaitOf(Address("192.0.2.7"), kStart), std::nullopt);
}

TEST(AttemptLimitTest, KeepsAnAddressThatWaitsWhenManyOthersFail) {
  AttemptLimit limit;
  FailUpToTheLimit(limit, Address("192.0.2.7"));
  for (size_t i = 0; i < 4 * AttemptLimit::kMaxAddresses; ++i) {
    EXPECT_EQ(limit.Count(Address(fmt::format("10.0.{}.{}", i / 256, i % 256)), kStart), Failure::kFirst);
  }
  EXPECT_NE(limit.WaitOf(Address("192.0.2.7"), kStart), std::nullopt);
}

}  // namespace
}  // namespace holdfast::auth
