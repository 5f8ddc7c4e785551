#include "sandbox/proxy/bridge.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/proxy/proxy_fixture.h"
#include "sandbox/proxy/relay.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/test_socket.h"
#include "sys/file_limit.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using support::Eventually;
using support::TestSocket;

// Receives until the end, and tells a reset from a proper end.
std::string ReceiveOrReset(const TestSocket& socket) {
  std::string text;
  for (;;) {
    pollfd poll = {socket.fd(), POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(support::kPatience.count())) != 1) return text + " and then nothing";
    char buffer[4096];
    const ssize_t n = ::recv(socket.fd(), buffer, sizeof buffer, 0);
    if (n == 0) return text + " end";
    if (n < 0) return text + (errno == ECONNRESET ? " reset" : " other error");
    text.append(buffer, static_cast<size_t>(n));
  }
}

void CloseWithReset(TestSocket& socket) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.Close();
}

std::string Pattern(size_t size, unsigned seed) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return text;
}

// Returns the only living child of this process, or 0 when there is none or more than one. The bridge of the test
// before may take a moment to end.
pid_t FindBridge() {
  std::vector<pid_t> children;
  EXPECT_TRUE(Eventually([&] {
    children = support::ChildrenOf(::getpid());
    std::erase_if(children, support::IsZombie);
    return children.size() == 1;
  })) << children.size();
  return children.size() == 1 ? children[0] : 0;
}

std::string StatusOf(pid_t pid) { return support::ReadProcFile(pid, "status").value_or(""); }

// StoppedBridge stops the bridge as long as it exists, or until Continue.
class StoppedBridge {
 public:
  StoppedBridge() : pid_(FindBridge()) {
    Send(SIGSTOP);
    EXPECT_TRUE(Eventually([&] { return StatusOf(pid_).contains("stopped"); }));
  }
  ~StoppedBridge() { Continue(); }
  StoppedBridge(const StoppedBridge&) = delete;
  StoppedBridge& operator=(const StoppedBridge&) = delete;

  void Continue() const { Send(SIGCONT); }

 private:
  void Send(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
  }

  const pid_t pid_;
};

class ProxyBridgeTest : public testing::Test {
 protected:
  void SetUp() override {
    proxy_.Listen();
    bridge_.emplace(std::vector{ProxyEndpoint{LoopbackHost::kIpv4, proxy_.port()}});
    client_ = bridge_->Connect();
  }

  TestListener proxy_;
  std::optional<TestBridge> bridge_;
  TestSocket client_;
};

TEST_F(ProxyBridgeTest, CarriesBothWays) {
  TestSocket server = proxy_.Accept();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(client_.Send("ping"));
    EXPECT_EQ(server.ReceiveSome(), "ping");
    ASSERT_TRUE(server.Send("pong"));
    EXPECT_EQ(client_.ReceiveSome(), "pong");
  }
}

TEST_F(ProxyBridgeTest, LetsTheProxyAnswerAfterTheCommandHasFinished) {
  TestSocket server = proxy_.Accept();
  ASSERT_TRUE(client_.Send("question"));
  client_.CloseWrite();
  EXPECT_EQ(server.ReceiveAll(), "question");
  ASSERT_TRUE(server.Send("answer"));
  server.Close();
  EXPECT_EQ(client_.ReceiveAll(), "answer");
}

TEST_F(ProxyBridgeTest, LetsTheCommandGoOnAfterTheProxyHasFinished) {
  TestSocket server = proxy_.Accept();
  ASSERT_TRUE(server.Send("enough"));
  server.CloseWrite();
  EXPECT_EQ(client_.ReceiveAll(), "enough");
  ASSERT_TRUE(client_.Send("one more"));
  client_.Close();
  EXPECT_EQ(server.ReceiveAll(), "one more");
}

TEST_F(ProxyBridgeTest, ResetsTheCommandWhenTheProxyIsReset) {
  TestSocket server = proxy_.Accept();
  ASSERT_TRUE(server.Send("half an ans"));
  EXPECT_EQ(client_.ReceiveSome(), "half an ans");
  CloseWithReset(server);
  EXPECT_EQ(ReceiveOrReset(client_), " reset");
}

TEST_F(ProxyBridgeTest, ResetsTheProxyWhenTheCommandIsReset) {
  const TestSocket server = proxy_.Accept();
  ASSERT_TRUE(client_.Send("half a quest"));
  CloseWithReset(client_);
  EXPECT_EQ(ReceiveOrReset(server), "half a quest reset");
}

// A proxy that refuses an upload answers and closes before it has read all of it.
TEST_F(ProxyBridgeTest, DeliversTheAnswerBeforeAReset) {
  TestSocket server = proxy_.Accept();
  ASSERT_TRUE(client_.Send(std::string(100'000, 'x')));
  ASSERT_TRUE(server.ReceiveSome(support::kPatience, 10));
  ASSERT_TRUE(server.Send("too large"));
  server.Close();
  EXPECT_EQ(ReceiveOrReset(client_), "too large reset");
}

// The kernel reports a reset once, here to the send. A receive afterwards sees what looks like a proper end.
TEST_F(ProxyBridgeTest, TakesAResetThatASendHasSeenForNoEnd) {
  TestSocket server = proxy_.Accept();
  // After this exchange the bridge knows that it is connected. The proxy's side is connected a moment earlier.
  ASSERT_TRUE(client_.Send("hello"));
  ASSERT_EQ(server.ReceiveSome(), "hello");
  const StoppedBridge stopped;
  ASSERT_TRUE(client_.Send("more"));
  ASSERT_TRUE(server.Send("half an ans"));
  CloseWithReset(server);
  stopped.Continue();
  EXPECT_EQ(ReceiveOrReset(client_), "half an ans reset");
}

TEST_F(ProxyBridgeTest, CarriesMuchBothWaysAtOnce) {
  TestSocket server = proxy_.Accept();
  const std::string up = Pattern(24 << 20, 1), down = Pattern(24 << 20, 2);
  const auto send = [](TestSocket& socket, const std::string& text) {
    EXPECT_TRUE(socket.Send(text));
    socket.CloseWrite();
  };
  std::jthread sends_up([&] { send(client_, up); }), sends_down([&] { send(server, down); });
  std::optional<std::string> arrived_down;
  std::jthread receives_down([&] { arrived_down = client_.ReceiveAll(); });
  EXPECT_TRUE(server.ReceiveAll() == up);
  receives_down.join();
  EXPECT_TRUE(arrived_down == down);
}

TEST_F(ProxyBridgeTest, CarriesManyConnections) {
  constexpr size_t count = 100;
  std::vector<TestSocket> clients, servers;
  clients.push_back(std::move(client_));
  while (clients.size() < count) clients.push_back(bridge_->Connect());
  while (servers.size() < count) servers.push_back(proxy_.Accept());
  for (size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(clients[i].Send(fmt::format("from {}", i)));
    clients[i].CloseWrite();
  }
  std::vector<std::string> said, expected;
  for (TestSocket& server : servers) {
    said.push_back(server.ReceiveAll().value_or("nothing"));
    ASSERT_TRUE(server.Send("to " + said.back()));
    server.Close();
  }
  for (size_t i = 0; i < count; ++i) {
    expected.push_back(fmt::format("from {}", i));
    EXPECT_EQ(clients[i].ReceiveAll(), "to " + expected.back());
  }
  EXPECT_THAT(said, testing::UnorderedElementsAreArray(expected));
}

TEST_F(ProxyBridgeTest, LetsConnectionsBeyondItsLimitWait) {
  constexpr size_t count = ProxyRelay::kMaxConnections + 5;
  const auto before = sys::RaiseFileLimit();
  if (!before || before->rlim_max < 2 * count + 200) GTEST_SKIP() << "not enough descriptors";
  std::vector<TestSocket> clients, servers;
  clients.push_back(std::move(client_));
  while (clients.size() < count) clients.push_back(bridge_->Connect());
  while (servers.size() < ProxyRelay::kMaxConnections) servers.push_back(proxy_.Accept());
  pollfd poll = {proxy_.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&poll, 1, 50), 0);
  servers.clear();
  clients.erase(clients.begin(), clients.begin() + ProxyRelay::kMaxConnections);
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(proxy_.Accept().is_open());
}

// Bytes that one side does not read stay with the other side, which sends them.
TEST_F(ProxyBridgeTest, HoldsLittleOfWhatIsNotTaken) {
  const pid_t bridge = FindBridge();
  TestSocket server = proxy_.Accept();
  const size_t before = support::ResidentKib(bridge);
  const std::string block(1 << 20, 'x');
  size_t sent = 0;
  pollfd poll = {server.fd(), POLLOUT, 0};
  while (::poll(&poll, 1, 300) == 1 && sent < 512u << 20) {
    const ssize_t n = ::send(server.fd(), block.data(), block.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<size_t>(n);
  }
  EXPECT_LT(sent, 512u << 20);
  EXPECT_LT(support::ResidentKib(bridge), before + 2048);
  server.CloseWrite();
  EXPECT_EQ(client_.ReceiveAll()->size(), sent);
}

// An end that the bridge knows already does not wake it again and again.
TEST_F(ProxyBridgeTest, SleepsBesideAnEndThatTheOtherSideDoesNotAnswer) {
  const pid_t bridge = FindBridge();
  TestSocket server = proxy_.Accept();
  client_.Close();
  EXPECT_EQ(server.ReceiveAll(), "");
  EXPECT_TRUE(Eventually([&] { return StatusOf(bridge).contains("sleeping"); }));
}

TEST_F(ProxyBridgeTest, PassesOnWhatWasSentBeforeTheEnd) {
  TestSocket first = proxy_.Accept();
  const std::string text(150'000, 'x');
  {
    const StoppedBridge stopped;
    ASSERT_TRUE(client_.Send(text));
    client_.Close();
    TestSocket late = bridge_->Connect();  // not accepted yet
    ASSERT_TRUE(late.Send("late"));
  }
  bridge_->End();
  EXPECT_TRUE(first.ReceiveAll() == text);
  EXPECT_EQ(proxy_.Accept().ReceiveAll(), "late");
}

TEST_F(ProxyBridgeTest, DoesNotWaitForAProxyThatTakesNothing) {
  const pid_t bridge = FindBridge();
  const TestSocket server = proxy_.Accept();
  const std::string block(1 << 20, 'x');
  pollfd poll = {client_.fd(), POLLOUT, 0};
  while (::poll(&poll, 1, 100) == 1) (void)!::send(client_.fd(), block.data(), block.size(), MSG_DONTWAIT);
  client_.Close();
  bridge_->End();
  EXPECT_TRUE(Eventually([&] { return support::IsZombie(bridge); }));
}

TEST(ProxyBridgeEndpointTest, ResetsWhileTheProxyIsDeadAndFindsItWhenItIsBack) {
  TestListener proxy;
  const TestBridge bridge({{LoopbackHost::kIpv4, proxy.port()}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ReceiveOrReset(bridge.Connect()), " reset");
  proxy.Listen();
  TestSocket client = bridge.Connect();
  ASSERT_TRUE(client.Send("hello"));
  EXPECT_EQ(proxy.Accept().ReceiveSome(), "hello");
}

TEST(ProxyBridgeEndpointTest, KeepsEndpointsApart) {
  TestListener first, second;
  first.Listen();
  second.Listen();
  const TestBridge bridge({{LoopbackHost::kIpv4, first.port()}, {LoopbackHost::kLocalhost, second.port()}});
  TestSocket to_second = bridge.Connect(1), to_first = bridge.Connect(0);
  ASSERT_TRUE(to_first.Send("1"));
  ASSERT_TRUE(to_second.Send("2"));
  EXPECT_EQ(first.Accept().ReceiveSome(), "1");
  EXPECT_EQ(second.Accept().ReceiveSome(), "2");
}

TEST(ProxyBridgeEndpointTest, FindsLocalhostOnEitherAddress) {
  TestListener proxy(AF_INET6);
  if (!proxy.is_open()) GTEST_SKIP() << "there is no IPv6 here";
  proxy.Listen();
  const TestBridge bridge({{LoopbackHost::kLocalhost, proxy.port()},
                           {LoopbackHost::kIpv6, proxy.port()},
                           {LoopbackHost::kIpv4, proxy.port()}});
  for (const size_t endpoint : {0u, 1u}) {
    TestSocket client = bridge.Connect(endpoint);
    ASSERT_TRUE(client.Send("hello"));
    EXPECT_EQ(proxy.Accept().ReceiveSome(), "hello");
  }
  EXPECT_EQ(ReceiveOrReset(bridge.Connect(2)), " reset");
}

// The tests run the relay of a bridge in a thread, with one connection.
class ProxyRelayTest : public testing::Test {
 protected:
  void SetUp() override {
    TestListener inside;
    proxy_.Listen();
    inside.Listen();
    auto pair = sys::MakePacketPair();
    control_ = std::move(pair->ours);
    relay_.emplace(std::move(pair->theirs), std::vector{ProxyEndpoint{LoopbackHost::kIpv4, proxy_.port()}});
    ended_ = std::async(std::launch::async, [this] { return relay_->Run(); });
    ASSERT_TRUE(sys::SendDescriptors(control_.get(), std::vector{inside.fd()}));
    client_ = TestSocket::Connect(fmt::format("ws://127.0.0.1:{}", inside.port()));
    server_ = proxy_.Accept();
  }
  void TearDown() override {
    control_.Reset();
    server_.Close();
    EXPECT_TRUE(ended_.get());
  }

  TestListener proxy_;
  OwnedFd control_;
  std::optional<ProxyRelay> relay_;
  std::future<Result<>> ended_;
  TestSocket client_, server_;
};

TEST_F(ProxyRelayTest, ClosesWhatBothHaveClosed) {
  const size_t open = support::CountFds(::getpid());
  client_.Close();
  EXPECT_EQ(server_.ReceiveAll(), "");
  server_.Close();
  EXPECT_TRUE(Eventually([&] { return support::CountFds(::getpid()) == open - 4; }));
}

// When the command is gone, a proxy that stays has nothing to wait for.
TEST_F(ProxyRelayTest, EndsThoughAProxyKeepsItsEndOpen) {
  client_.Close();
  control_.Reset();
  EXPECT_EQ(ended_.wait_for(support::kPatience), std::future_status::ready);
}

TEST(ProxyBridgeProcessTest, HoldsNoDescriptorOfItsOwnersOpen) {
  auto pipe = sys::MakePipe(sys::OurEnd::kWrite);
  const auto bridge = StartProxyBridge({{LoopbackHost::kIpv4, 1}});
  ASSERT_TRUE(bridge);
  pipe->write_end.Reset();
  char none;
  EXPECT_EQ(sys::Read(pipe->read_end.get(), &none, 1), 0);
  EXPECT_TRUE(support::IsAlive(FindBridge()));
}

TEST(ProxyBridgeProcessTest, LeavesTheSessionOfItsOwner) {
  const auto bridge = StartProxyBridge({{LoopbackHost::kIpv4, 1}});
  ASSERT_TRUE(bridge);
  const pid_t pid = FindBridge();
  EXPECT_TRUE(Eventually([&] { return ::getsid(pid) == pid; }));
}

// Another process may hold the control socket open, such as pid 1 of a command that a jail has started.
TEST(ProxyBridgeProcessTest, LivesUntilNoProcessHasItsSocket) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto bridge = StartProxyBridge({{LoopbackHost::kIpv4, 1}});
    (void)!::fork();
    for (;;) ::pause();
  }
  std::vector<pid_t> children;
  const auto has_session = [](pid_t pid) { return ::getsid(pid) == pid; };
  EXPECT_TRUE(Eventually([&] {
    children = support::ChildrenOf(owner);
    std::ranges::sort(children, {}, has_session);
    return children.size() == 2 && has_session(children[1]);
  }));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(support::IsAlive(children.back()));
  ::kill(children.front(), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return !support::IsAlive(children.back()); }));
}

TEST(ProxyBridgeProcessTest, EndsWhenItDoesNotGetWhatItNeeds) {
  const auto bridge = StartProxyBridge({{LoopbackHost::kIpv4, 1}, {LoopbackHost::kIpv4, 2}});
  ASSERT_TRUE(bridge);
  const pid_t pid = FindBridge();
  TestListener one;
  one.Listen();
  ASSERT_TRUE(sys::SendDescriptors(bridge->get(), std::vector{one.fd()}));
  EXPECT_TRUE(Eventually([&] { return support::IsZombie(pid); }));
}

}  // namespace
}  // namespace holdfast::sandbox
