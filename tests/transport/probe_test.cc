// The question of a connection whether its other end is there.
#include <sys/socket.h>

#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "loop/scope.h"
#include "support/web_socket_client.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using rpc::Presence;
using std::chrono::milliseconds;
using support::Received;
using support::WebSocketClient;
using Op = support::Opcode;

constexpr milliseconds kShort{100};  // for what does not come
constexpr size_t kMiB = 1u << 20;

loop::Task<> Ask(rpc::Transport& transport, milliseconds patience, std::promise<Presence>& outcome) {
  outcome.set_value(co_await transport.Probe(patience));
}

class ProbeTest : public testing::Test {
 protected:
  // Begins to ask the other end of the connection.
  std::future<Presence> Probe(milliseconds patience = support::kPatience) {
    server_.Run([&] { asking_.Start(Ask(*peer_.transport(), patience, outcome_)); });
    return outcome_.get_future();
  }

  void SendFlood() {
    server_.Run([&] {
      for (int i = 0; i < 32; ++i) peer_.transport()->Send(std::string(kMiB, 'f'));
      peer_.transport()->SetReading(rpc::Reading::kOff);  // as a peer does that holds answers
      EXPECT_TRUE(peer_.transport()->congested());
    });
  }

  TestServer server_;
  WebSocketClient client_ = WebSocketClient::Connect(server_.url());
  Peer& peer_ = server_.WaitForPeer();
  std::promise<Presence> outcome_;
  loop::Scope asking_;
};

TEST_F(ProbeTest, APongIsAnAnswer) {
  auto outcome = Probe();
  EXPECT_EQ(client_.Receive().kind, Received::Kind::kPing);
  client_.SendFrame({.opcode = Op::kPong});
  EXPECT_EQ(outcome.get(), Presence::kAnswers);
}

TEST_F(ProbeTest, AnyMessageIsAnAnswer) {
  auto outcome = Probe();
  client_.SendText("busy");
  EXPECT_EQ(outcome.get(), Presence::kAnswers);
}

TEST_F(ProbeTest, AClientThatDoesNotAnswerIsSilent) { EXPECT_EQ(Probe(kShort).get(), Presence::kSilent); }

TEST_F(ProbeTest, AMessageFromBeforeIsNoAnswer) {
  client_.SendText("early");
  EXPECT_EQ(peer_.WaitForMessage(), "early");
  EXPECT_EQ(Probe(kShort).get(), Presence::kSilent);
}

// The server does not read either then, so the answer stays in its socket.
TEST_F(ProbeTest, AClientThatAnswersAndDoesNotReadIsThere) {
  SendFlood();
  auto outcome = Probe(milliseconds(2'000));
  client_.SendFrame({.opcode = Op::kPong});
  EXPECT_EQ(outcome.get(), Presence::kAnswers);
}

TEST_F(ProbeTest, AClientThatNeitherReadsNorAnswersIsSilent) {
  SendFlood();
  EXPECT_EQ(Probe(kShort).get(), Presence::kSilent);
}

TEST_F(ProbeTest, AClientThatClosesMeanwhileIsSilentAtOnce) {
  auto outcome = Probe();
  client_.socket().Close();
  EXPECT_EQ(outcome.get(), Presence::kSilent);
  EXPECT_TRUE(peer_.WaitForClosed());
}

TEST_F(ProbeTest, AnAbortEndsTheConnectionWithoutAWord) {
  server_.Run([&] { peer_.transport()->Abort(); });
  EXPECT_TRUE(peer_.WaitForClosed());
  EXPECT_EQ(client_.Receive().kind, Received::Kind::kEof);
}

// Lines know no question. The other end is a process of this machine, whose end the kernel reports.
TEST(LinesProbeTest, APeerIsThereUntilItCloses) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  loop::EventLoop loop;
  Peer peer(ServeLines(loop, fds[0], fds[0], {}), {});
  loop::Scope asking;
  const auto probe = [&] {
    std::promise<Presence> outcome;
    asking.Start(Ask(*peer.transport(), kShort, outcome));
    return outcome.get_future().get();
  };
  EXPECT_EQ(probe(), Presence::kAnswers);
  ::close(fds[1]);
  EXPECT_EQ(probe(), Presence::kSilent);
  ::close(fds[0]);
}

}  // namespace
}  // namespace holdfast::transport
