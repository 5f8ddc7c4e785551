#include "sandbox/proxy/listener.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "sandbox/proxy/proxy_fixture.h"
#include "support/proc.h"
#include "support/test_socket.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

using support::TestSocket;
using testing::HasSubstr;

uint16_t PortOf(int fd) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  return ntohs(address.sin_port);
}

TEST(ProxyListenerTest, HandsItsListenersOverAndKeepsNone) {
  const auto pair = sys::MakePacketPair();
  ProxyOrders orders = {.control_fd = pair->theirs.get(), .listeners = 2};
  orders.variables = {
      {"TEST_FIRST", "http://u:p@", "/", 0}, {"TEST_SECOND", "", "", 1}, {"TEST_FIRST_AGAIN", "socks5://", "?", 0}};
  const size_t fds = support::CountFds(::getpid());
  ASSERT_TRUE(OpenProxyListeners(orders));
  EXPECT_EQ(support::CountFds(::getpid()), fds);
  const auto listeners = sys::ReceiveDescriptors(pair->ours.get());
  ASSERT_TRUE(listeners);
  ASSERT_EQ(listeners->size(), 2u);
  const uint16_t first = PortOf((*listeners)[0].get()), second = PortOf((*listeners)[1].get());
  EXPECT_NE(first, second);
  EXPECT_EQ(::getenv("TEST_FIRST"), fmt::format("http://u:p@127.0.0.1:{}/", first));
  EXPECT_EQ(::getenv("TEST_FIRST_AGAIN"), fmt::format("socks5://127.0.0.1:{}?", first));
  EXPECT_EQ(::getenv("TEST_SECOND"), fmt::format("127.0.0.1:{}", second));
  EXPECT_TRUE(TestSocket::Connect(fmt::format("ws://127.0.0.1:{}", second)).is_open());
}

// A program that reads the environment may use the first of two values, or the last.
TEST(ProxyListenerTest, LeavesNoOtherValueOfAVariable) {
  const auto pair = sys::MakePacketPair();
  const ProxyOrders orders = {
      .control_fd = pair->theirs.get(), .listeners = 1, .variables = {{"TEST_TWICE", "http://", "", 0}}};
  const pid_t child = ::fork();
  if (child == 0) {
    char one[] = "TEST_TWICE=http://127.0.0.1:1", other[] = "TEST_TWICE=http://127.0.0.1:2", path[] = "PATH=/bin";
    char* doubled[] = {one, path, other, nullptr};
    environ = doubled;
    if (!OpenProxyListeners(orders)) ::_exit(100);
    int values = 0;
    for (char** entry = environ; *entry != nullptr; ++entry)
      values += std::string_view(*entry).starts_with("TEST_TWICE=");
    ::_exit(values);
  }
  EXPECT_EQ(StatusOf(child), 1);
}

TEST(ProxyListenerTest, FailsWithoutABridge) {
  auto pair = sys::MakePacketPair();
  pair->ours.Reset();
  EXPECT_FALSE(OpenProxyListeners({.control_fd = pair->theirs.get(), .listeners = 1}));
}

// Enters a network namespace and brings its loopback up, as bubblewrap does.
void EnterOwnNetwork() {
  if (::unshare(CLONE_NEWNET) < 0) ::_exit(kNoNamespaces);
  const OwnedFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback = {};
  std::string_view("lo").copy(loopback.ifr_name, IFNAMSIZ);
  loopback.ifr_flags = IFF_UP;
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &loopback) < 0) ::_exit(kNoNamespaces);
}

class ProxyStageTest : public InnerStageFixture {
 protected:
  void SetUp() override {
    InnerStageFixture::SetUp();
    proxy_.Listen();
    auto bridge = StartProxyBridge({{LoopbackHost::kIpv4, proxy_.port()}});
    ASSERT_TRUE(bridge);
    bridge_ = *std::move(bridge);
  }

  // The script runs in bash, which can connect by itself: the script opens an address as descriptor 3.
  InnerOrders Bash(std::string script) const {
    InnerOrders orders = Orders({"/bin/bash", "-c", std::move(script)});
    orders.filter = Filter::kProxyOnly;
    orders.proxy = {.control_fd = bridge_.get(), .listeners = 1, .variables = {{"HTTP_PROXY", "http://", "/", 0}}};
    return orders;
  }

  TestListener proxy_;
  OwnedFd bridge_;
};

constexpr char kAskProxy[] =
    "port=${HTTP_PROXY#http://127.0.0.1:}; exec 3<>/dev/tcp/127.0.0.1/${port%/} && echo question >&3 && cat <&3";

TEST_F(ProxyStageTest, ReachesTheProxyFromANetworkOfItsOwn) {
  RunningStage stage(Bash(kAskProxy), EnterOwnNetwork);
  TestSocket server = proxy_.Accept();
  EXPECT_EQ(server.ReceiveSome(), "question\n");
  ASSERT_TRUE(server.Send("answer\n"));
  server.Close();
  const Outcome outcome = stage.Finish();
  EXPECT_EQ(outcome.out, "answer\n") << outcome.err;
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(ProxyStageTest, ReachesNothingButTheProxy) {
  const std::string direct = fmt::format("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected", proxy_.port());
  const Outcome inside = RunningStage(Bash(direct), EnterOwnNetwork).Finish();
  EXPECT_EQ(inside.out, "");
  EXPECT_THAT(inside.err, HasSubstr("Connection refused"));
  EXPECT_TRUE(TestSocket::Connect(fmt::format("ws://127.0.0.1:{}", proxy_.port())).is_open());
}

TEST_F(ProxyStageTest, GivesTheCommandNoDescriptorOfTheBridge) {
  const Outcome outcome = RunningStage(Bash("ls -l /proc/self/fd /proc/$$/fd"), EnterOwnNetwork).Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("socket:")));
}

TEST_F(ProxyStageTest, RefusesToStartWithoutABridge) {
  const InnerOrders orders = Bash("echo ran");
  ::shutdown(bridge_.get(), SHUT_RDWR);
  const Outcome outcome = RunningStage(orders, EnterOwnNetwork).Finish();
  EXPECT_EQ(outcome.status, kRefusedStatus);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("sendmsg descriptors"));
}

}  // namespace
}  // namespace holdfast::sandbox
