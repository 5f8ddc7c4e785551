// The wrapper server runs on the loop, and its clients choose what they pass to it. These tests pass sockets whose last
// close blocks.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "escalate/scripted_peer.h"
#include "escalate/wrapper_server/fake_outside.h"
#include "escalate/wrapper_server/fake_view.h"
#include "escalate/wrapper_server/wrapper_server.h"
#include "support/lingering_peer.h"
#include "support/loop_runner.h"
#include "sys/descriptor_passing.h"
#include "sys/socket_pair.h"

namespace holdfast::escalate {
namespace {

using support::InQueue;
using support::kPromptness;
using support::LingeringPeer;
using support::TimeOf;

constexpr const char* kEscalate = R"({"action":"Escalate"})";

class NobodyToAsk final : public Approver {
 public:
  loop::Task<Answer> Ask(Question) override { co_return Answer{}; }
};

std::string RequestFor(const std::string& name) {
  return R"({"file":"/bin/)" + name + R"(","argv":[")" + name + R"("],"workdir":"/","env":{}})";
}

class LingeringWrapperTest : public testing::Test {
 protected:
  LingeringWrapperTest() {
    const exec_policy::RulesText rules{.name = "test.rules",
                                       .text = R"(prefix_rule(pattern=["outside"], decision="allow"))"};
    WrapperServerOptions options{
        .policy = std::make_shared<const exec_policy::Policy>(*exec_policy::Policy::Parse({&rules, 1})),
        .look = [](pid_t, const std::string& file) { return ViewOf(file); },
        .start = outside_.starter()};
    server_ = *WrapperServer::Create(loop_, workers_, approver_, std::move(options));
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

  ScriptedPeer Connect() { return ConnectAsWrapper(server_->client_socket()->get()); }

  std::string Receive(ScriptedPeer& peer) {
    EXPECT_TRUE(RunUntil([&] {
      char byte;
      return ::recv(peer.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
    }));
    return peer.Receive();
  }

  // Another wrapper gets its answer, and soon.
  void ExpectAnAnswer() {
    EXPECT_LT(TimeOf([&] {
                ScriptedPeer other = Connect();
                other.Send(RequestFor("echo"));
                EXPECT_EQ(Receive(other), R"({"action":"Run"})");
              }),
              kPromptness);
  }

  ScriptedPeer ReadyToHandOver() {
    ScriptedPeer peer = Connect();
    peer.Send(RequestFor("outside"));
    EXPECT_EQ(Receive(peer), kEscalate);
    return peer;
  }

  LingeringPeer reader_;
  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {}};
  NobodyToAsk approver_;
  FakeOutside outside_;
  std::unique_ptr<WrapperServer> server_;
};

TEST_F(LingeringWrapperTest, EndsASessionWhoseSocketHasOneInItsQueue) {
  OwnedFd session = InQueue(reader_.Connect());
  const int passed = session.get();
  ASSERT_TRUE(sys::SendDescriptors(server_->client_socket()->get(), {&passed, 1}));
  session.Reset();
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(RunUntil([&] { return server_->sessions() == 1; })); }), kPromptness);
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(RunUntil([&] { return server_->sessions() == 0; })); }), kPromptness);
  ExpectAnAnswer();
}

TEST_F(LingeringWrapperTest, RefusesOneInThePlaceOfASession) {
  OwnedFd socket = reader_.Connect();
  const int passed = socket.get();
  ASSERT_TRUE(sys::SendDescriptors(server_->client_socket()->get(), {&passed, 1}));
  socket.Reset();
  ExpectAnAnswer();
  EXPECT_EQ(server_->sessions(), 0u);
}

TEST_F(LingeringWrapperTest, RefusesOneWithAMessageThatHasNone) {
  ScriptedPeer peer = Connect();
  {
    OwnedFd socket = reader_.Connect();
    peer.Send(RequestFor("echo"), {socket.get()});
  }
  EXPECT_LT(TimeOf([&] { EXPECT_NE(Receive(peer).find("Deny"), std::string::npos); }), kPromptness);
  ExpectAnAnswer();
}

TEST_F(LingeringWrapperTest, EndsACommandThatGotSomeAsItsStreams) {
  ScriptedPeer peer = ReadyToHandOver();
  {
    const OwnedFd in = reader_.Connect(), out = reader_.Connect(), err = InQueue(reader_.Connect());
    peer.Send(R"({"fds":[0,1,2]})", {in.get(), out.get(), err.get()});
  }
  EXPECT_TRUE(RunUntil([&] { return !outside_.commands.empty(); }));
  peer.Close();
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(RunUntil([&] { return outside_.commands.empty(); })); }), kPromptness);
  ExpectAnAnswer();
}

TEST_F(LingeringWrapperTest, RefusesToStartACommandThatGotSome) {
  ScriptedPeer peer = ReadyToHandOver();
  outside_.refuses = true;
  {
    const OwnedFd in = reader_.Connect(), out = InQueue(reader_.Connect());
    peer.Send(R"({"fds":[0,1]})", {in.get(), out.get()});
  }
  EXPECT_LT(TimeOf([&] { EXPECT_NE(Receive(peer).find("126"), std::string::npos); }), kPromptness);
  ExpectAnAnswer();
}

TEST_F(LingeringWrapperTest, EndsWithSomeThatItHasNotReceived) {
  OwnedFd session = InQueue(reader_.Connect());
  const int passed = session.get();
  ASSERT_TRUE(sys::SendDescriptors(server_->client_socket()->get(), {&passed, 1}));
  session.Reset();
  EXPECT_LT(TimeOf([&] { server_.reset(); }), kPromptness);
}

// The credentials of the sender need room that the descriptors would have had. The client sets the option again,
// because the server clears it when the session begins.
TEST_F(LingeringWrapperTest, RefusesOneBehindManyOthersAndCredentials) {
  auto pair = sys::MakeSocketPair(sys::SocketKind::kStream);
  ASSERT_TRUE(pair);
  const int passed = pair->theirs.get(), yes = 1;
  ASSERT_EQ(::setsockopt(passed, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  ASSERT_TRUE(sys::SendDescriptors(server_->client_socket()->get(), {&passed, 1}));
  ASSERT_TRUE(RunUntil([&] { return server_->sessions() == 1; }));
  int value = -1;
  socklen_t size = sizeof value;
  ASSERT_EQ(::getsockopt(passed, SOL_SOCKET, SO_PASSCRED, &value, &size), 0);
  EXPECT_EQ(value, 0);
  ASSERT_EQ(::setsockopt(passed, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  {
    const OwnedFd socket = reader_.Connect();
    std::vector<int> fds(sys::kMaxPassedFds, 0);
    fds.back() = socket.get();
    ASSERT_TRUE(sys::SendDescriptors(pair->ours.get(), fds));
  }
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(RunUntil([&] { return server_->sessions() == 0; })); }), kPromptness);
  ExpectAnAnswer();
}

// The kernel closes descriptors for which the receiver has no numbers, and on the receiver's thread.
TEST_F(LingeringWrapperTest, ReceivesSomeAlthoughTheUsualNumbersAreUsedUp) {
  ScriptedPeer peer = ReadyToHandOver();
  {
    const OwnedFd in = reader_.Connect();
    peer.Send(R"({"fds":[0]})", {in.get()});
  }
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const OwnedFd lowest(::fcntl(0, F_DUPFD_CLOEXEC, 0));
  const rlimit full = {.rlim_cur = static_cast<rlim_t>(lowest.get()), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
  const auto time = TimeOf([&] { EXPECT_TRUE(RunUntil([&] { return !outside_.commands.empty(); })); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(time, kPromptness);
  ASSERT_EQ(outside_.commands.size(), 1u);
  EXPECT_EQ(outside_.commands[0]->order.fds.size(), 1u);
}

}  // namespace
}  // namespace holdfast::escalate
