#include "sandbox/jail/inner_orders.h"

#include <cstdint>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/record.h"
#include "base/record_reader.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

constexpr size_t kHeaderSize = 9;

process::Command True() { return {.program = "true", .argv = {"true"}}; }

InnerOrders Orders() {
  return {.command = {.program = "/bin/sh", .argv = {"sh", "-c", "", "echo \xff \n"}, .cwd = "/work dir"},
          .environment = Strings{"A=1", "B=\xff=", "A=2", "odd", "", "=x"},
          .filter = Filter::kGuardedNetwork,
          .mounts = {{"/work dir", MountCheck::Kind::kWritable, {.device = 1, .inode = UINT64_MAX - 1}},
                     {"/key", MountCheck::Kind::kCover, {.device = UINT64_MAX, .inode = 1ull << 32}}},
          .landlock = {{"/", LandlockRule::Rights::kRead},
                       {"/work dir", LandlockRule::Rights::kWrite, sys::FileIdentity{.device = 1, .inode = 2}},
                       {"/usr", LandlockRule::Rights::kList}},
          .kept_fds = {5, 7, 1000},
          .port_ruleset_fd = 8,
          .proxy = ProxyOrders{.control_fd = 9,
                               .listeners = 2,
                               .variables = {{"HTTP_PROXY", "http://", "/", 0}, {"all_proxy", "u:p@", "", 1}}},
          .streams = Streams{.in = 11, .out = 12, .err = 10},
          .report_fd = 13,
          .enforcement = {.backend = "bubblewrap", .reason = "the other one does not work"},
          .lifeline_fd = 14,
          .exec_supervisor_fd = 15};
}

void ExpectSame(const InnerOrders& a, const InnerOrders& b) {
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.filter, b.filter);
  ASSERT_EQ(a.landlock.size(), b.landlock.size());
  for (size_t i = 0; i < a.landlock.size(); ++i) {
    EXPECT_EQ(a.landlock[i].path, b.landlock[i].path);
    EXPECT_EQ(a.landlock[i].rights, b.landlock[i].rights);
    EXPECT_EQ(a.landlock[i].identity, b.landlock[i].identity);
  }
  EXPECT_EQ(a.kept_fds, b.kept_fds);
  EXPECT_EQ(a.port_ruleset_fd, b.port_ruleset_fd);
  EXPECT_EQ(a.proxy, b.proxy);
  EXPECT_EQ(a.built_in, b.built_in);
  EXPECT_EQ(a.absent, b.absent);
  EXPECT_EQ(a.mounts, b.mounts);
  EXPECT_EQ(a.streams, b.streams);
  EXPECT_EQ(a.report_fd, b.report_fd);
  EXPECT_EQ(a.enforcement, b.enforcement);
  EXPECT_EQ(a.lifeline_fd, b.lifeline_fd);
  EXPECT_EQ(a.control_fd, b.control_fd);
  EXPECT_EQ(a.exec_supervisor_fd, b.exec_supervisor_fd);
  EXPECT_EQ(a.environment, b.environment);
}

void ExpectRefused(const InnerOrders& orders) {
  const auto decoded = DecodeRecord<InnerOrders>(EncodeRecord(orders));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().kind, ErrorKind::kInvalidParams);
}

TEST(InnerOrdersTest, ComeBackAsTheyWere) {
  for (const InnerOrders& orders :
       {Orders(), InnerOrders{.command = True()}, InnerOrders{.command = True(), .environment = Strings{}},
        InnerOrders{.command = True(), .control_fd = 14},
        InnerOrders{.command = {}, .built_in = true, .absent = {"/a/.git", "/a/.codex"}}}) {
    const auto decoded = DecodeRecord<InnerOrders>(EncodeRecord(orders));
    ASSERT_TRUE(decoded);
    ExpectSame(*decoded, orders);
  }
}

TEST(InnerOrdersTest, RefusesWhatNoCommandCanHave) {
  InnerOrders orders = Orders();
  orders.command.argv.clear();
  ExpectRefused(orders);
  orders = Orders();
  orders.built_in = true;  // both a program and a built-in function
  ExpectRefused(orders);
  orders = Orders();
  orders.absent = {"/a"};  // only a built-in function keeps paths absent by itself
  ExpectRefused(orders);
  orders = {.command = {}, .built_in = true};
  orders.exec_supervisor_fd = 5;  // the built-in function executes nothing
  ExpectRefused(orders);
  orders = {.command = {}, .built_in = true, .absent = {"a"}};
  ExpectRefused(orders);
  orders = Orders();
  orders.command.argv[1] = std::string("a\0b", 3);
  ExpectRefused(orders);
  orders = Orders();
  orders.environment->push_back(std::string("A=\0", 3));
  ExpectRefused(orders);
  orders = Orders();
  orders.command.cwd = "relative";
  ExpectRefused(orders);
  orders = Orders();
  orders.command.cwd = std::string("/a\0b", 4);
  ExpectRefused(orders);
}

TEST(InnerOrdersTest, RefusesPathsThatAreNotAbsolute) {
  for (const char* path : {"", "relative"}) {
    InnerOrders orders = Orders();
    orders.landlock[1].path = path;
    ExpectRefused(orders);
    orders = Orders();
    orders.mounts[1].path = path;
    ExpectRefused(orders);
  }
}

TEST(InnerOrdersTest, RefusesDescriptorsThatCannotBeMeant) {
  for (const std::vector<int>& fds : {std::vector{-1}, {0}, {2}, {5, 5}, {7, 5}, {1 << 30}}) {
    InnerOrders orders = Orders();
    orders.kept_fds = fds;
    ExpectRefused(orders);
  }
  for (const int fd : {-1, 0, 2, 1 << 30}) {
    InnerOrders orders = Orders();
    orders.report_fd = fd;
    ExpectRefused(orders);
    orders = Orders();
    orders.lifeline_fd = fd;
    ExpectRefused(orders);
    orders = InnerOrders{.command = True()};
    orders.control_fd = fd;
    ExpectRefused(orders);
    orders = Orders();
    orders.exec_supervisor_fd = fd;
    ExpectRefused(orders);
    orders = Orders();
    orders.streams->err = fd;
    ExpectRefused(orders);
  }
}

// pid 1 has one master: the outer stage, or the server.
TEST(InnerOrdersTest, RefusesALifelineBesideAControlSocket) {
  ExpectRefused({.command = True(), .lifeline_fd = 14, .control_fd = 15});
}

TEST(InnerOrdersTest, CarriesEveryFilter) {
  for (const Filter filter : {Filter::kOpenNetwork, Filter::kRestrictedNetwork, Filter::kProxyOnly,
                              Filter::kGuardedNetwork, Filter::kProxyNoListening}) {
    InnerOrders orders = Orders();
    orders.filter = filter;
    const auto carried = DecodeRecord<InnerOrders>(EncodeRecord(orders));
    ASSERT_TRUE(carried);
    EXPECT_EQ(carried->filter, filter);
  }
}

TEST(InnerOrdersTest, RefusesValuesOutsideOfTheirLists) {
  InnerOrders orders = Orders();
  orders.filter = static_cast<Filter>(5);
  ExpectRefused(orders);
  orders = Orders();
  orders.landlock[0].rights = static_cast<LandlockRule::Rights>(3);
  ExpectRefused(orders);
  orders = Orders();
  orders.mounts[0].kind = static_cast<MountCheck::Kind>(5);
  ExpectRefused(orders);
}

TEST(InnerOrdersTest, RefusesProxiesThatCannotBeListenedFor) {
  const auto refuses = [](auto change) {
    InnerOrders orders = Orders();
    change(*orders.proxy);
    ExpectRefused(orders);
  };
  refuses([](ProxyOrders& proxy) { proxy.control_fd = 2; });
  refuses([](ProxyOrders& proxy) { proxy.control_fd = -1; });
  refuses([](ProxyOrders& proxy) { proxy.listeners = 0; });
  refuses([](ProxyOrders& proxy) { proxy.listeners = 1; });  // but a variable names the second listener
  refuses([](ProxyOrders& proxy) { proxy.listeners = kMaxProxyEndpoints + 1; });
  refuses([](ProxyOrders& proxy) { proxy.variables[0].name = ""; });
  refuses([](ProxyOrders& proxy) { proxy.variables[0].name = "A=B"; });
  refuses([](ProxyOrders& proxy) { proxy.variables[0].after = std::string("a\0b", 3); });
}

TEST(InnerOrdersTest, RefusesAnotherVersion) {
  std::string bytes = EncodeRecord(Orders());
  bytes[kHeaderSize - 2] = '1';
  const auto decoded = DecodeRecord<InnerOrders>(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("version"));
}

TEST(InnerOrdersTest, RefusesEveryTruncationAndWhatFollows) {
  const std::string bytes = EncodeRecord(Orders());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeRecord<InnerOrders>(bytes.substr(0, size))) << size;
  EXPECT_FALSE(DecodeRecord<InnerOrders>(bytes + '\0'));
}

TEST(InnerOrdersTest, RefusesMoreThanItsLimit) {
  InnerOrders orders = Orders();
  orders.command.argv.emplace_back(17u << 20, 'x');
  const auto decoded = DecodeRecord<InnerOrders>(EncodeRecord(orders));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().kind, ErrorKind::kLimit);
}

// A count that is larger than the input can hold is refused before memory is allocated for it.
TEST(InnerOrdersTest, RefusesCountsAndLengthsBeyondTheInput) {
  const std::string bytes = EncodeRecord(Orders());
  for (size_t at = kHeaderSize; at + 4 <= bytes.size(); ++at) {
    for (const char fill : {'\xff', '\x7f'}) {
      std::string garbled = bytes;
      garbled.replace(at, 4, 4, fill);
      if (const auto decoded = DecodeRecord<InnerOrders>(garbled)) {
        EXPECT_EQ(EncodeRecord(*decoded), garbled);
      }
    }
  }
}

// Bytes that are accepted are exactly those that Encode makes of the decoded orders.
TEST(InnerOrdersTest, AcceptsNoOtherSpelling) {
  std::mt19937 random(1);
  const std::string bytes = EncodeRecord(Orders());
  size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string garbled = bytes;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % garbled.size();
      switch (random() % 3) {
        case 0:
          garbled[at] = static_cast<char>(random());
          break;
        case 1:
          garbled.erase(at, 1 + random() % 5);
          break;
        default:
          garbled.insert(at, 1 + random() % 5, static_cast<char>(random()));
      }
    }
    if (const auto decoded = DecodeRecord<InnerOrders>(garbled)) {
      ++accepted;
      ASSERT_EQ(EncodeRecord(*decoded), garbled);
    }
  }
  EXPECT_GT(accepted, 0u);  // a change of a letter in an argument gives other valid orders
}

}  // namespace
}  // namespace holdfast::sandbox
