#include "remote/forwarded_connection.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/byte_budget.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "support/loop_runner.h"

namespace holdfast::remote {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FakeTransport final : public rpc::Transport {
 public:
  void Start(rpc::Receiver& started) override { receiver = &started; }
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  bool congested() const override { return is_congested; }
  void SetReading(rpc::Reading wanted) override { reading = wanted; }
  void Close() override { is_closing = true; }
  void Abort() override { is_closing = true; }
  loop::Task<rpc::Presence> Probe(std::chrono::milliseconds) override { co_return rpc::Presence::kAnswers; }
  std::string_view peer() const override { return "fake"; }

  rpc::Receiver* receiver = nullptr;
  std::vector<std::string> sent;
  bool is_congested = false, is_closing = false;
  rpc::Reading reading = rpc::Reading::kOn;
};

class ForwardedConnectionTest : public testing::Test {
 protected:
  void SetUp() override { connection_->Start(); }

  // Lets the dial under way end.
  void Reach() { Answer(server_); }
  void Answer(ForwardedConnection::Dialled dialled) {
    answer_ = std::move(dialled);
    answered_.Notify();
  }

  loop::Task<ForwardedConnection::Dialled> Dial() {
    ++dials_;
    while (!answer_) co_await answered_.Next();
    co_return *answer_;
  }

  using milliseconds = std::chrono::milliseconds;

  loop::EventLoop loop_;
  loop::ByteBudget budget_{loop_, {.bytes = 1'000, .tenure = milliseconds(1), .tick = milliseconds(1)}};
  std::shared_ptr<FakeTransport> client_ = std::make_shared<FakeTransport>();
  std::shared_ptr<FakeTransport> server_ = std::make_shared<FakeTransport>();
  int dials_ = 0, ends_ = 0;
  std::optional<ForwardedConnection::Dialled> answer_;
  loop::Event answered_;
  std::unique_ptr<ForwardedConnection> connection_ =
      std::make_unique<ForwardedConnection>(client_, budget_, [this] { return Dial(); }, [this] { ++ends_; });
};

TEST_F(ForwardedConnectionTest, DialsTheServerWhenTheClientSpeaks) {
  EXPECT_EQ(dials_, 0);
  client_->receiver->OnMessage("first");
  EXPECT_EQ(dials_, 1);
  EXPECT_EQ(client_->reading, rpc::Reading::kOff);
  Reach();
  EXPECT_THAT(server_->sent, ElementsAre("first"));
  EXPECT_EQ(client_->reading, rpc::Reading::kOn);
}

TEST_F(ForwardedConnectionTest, PassesMessagesBothWays) {
  client_->receiver->OnMessage("1");
  Reach();
  client_->receiver->OnMessage("2");
  server_->receiver->OnMessage("a");
  server_->receiver->OnMessage("b");
  EXPECT_THAT(server_->sent, ElementsAre("1", "2"));
  EXPECT_THAT(client_->sent, ElementsAre("a", "b"));
  EXPECT_EQ(dials_, 1);
}

TEST_F(ForwardedConnectionTest, ReadsOneSideOnlyWhileTheOtherDoes) {
  client_->receiver->OnMessage("1");
  Reach();
  client_->is_congested = true;
  server_->receiver->OnMessage("output");
  EXPECT_EQ(server_->reading, rpc::Reading::kOff);
  EXPECT_EQ(client_->reading, rpc::Reading::kOn);
  client_->receiver->OnDrained();
  EXPECT_EQ(server_->reading, rpc::Reading::kOn);
  server_->is_congested = true;
  client_->receiver->OnMessage("upload");
  EXPECT_EQ(client_->reading, rpc::Reading::kOff);
  server_->receiver->OnDrained();
  EXPECT_EQ(client_->reading, rpc::Reading::kOn);
}

TEST_F(ForwardedConnectionTest, AMessageCountsWhileItWaits) {
  client_->receiver->OnMessage("first");
  EXPECT_EQ(budget_.held(), 5u);
  Reach();
  EXPECT_EQ(budget_.held(), 0u);
  client_->is_congested = true;
  server_->receiver->OnMessage(std::string(700, 'x'));
  EXPECT_EQ(budget_.held(), 700u);
  client_->is_congested = false;
  client_->receiver->OnDrained();
  EXPECT_EQ(budget_.held(), 0u);
}

TEST_F(ForwardedConnectionTest, ClosesAClientThatDoesNotReadWhenOthersNeedTheMemory) {
  client_->receiver->OnMessage("first");
  Reach();
  client_->is_congested = true;
  server_->receiver->OnMessage(std::string(700, 'x'));
  loop::ByteBudget::Permit other = budget_.Open();
  std::optional<Result<>> granted;
  other.Await(600, [&](const Result<>& result) { granted = result; });
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return client_->is_closing && server_->is_closing; }));
  EXPECT_FALSE(granted);
  connection_.reset();
  EXPECT_TRUE(granted && *granted);
}

TEST_F(ForwardedConnectionTest, ClosesTheServerWhenTheClientEnds) {
  client_->receiver->OnMessage("1");
  Reach();
  client_->receiver->OnClosed();
  EXPECT_TRUE(server_->is_closing);
  EXPECT_EQ(ends_, 0);
  server_->receiver->OnClosed();
  EXPECT_EQ(ends_, 1);
}

TEST_F(ForwardedConnectionTest, ClosesTheClientWhenTheServerEnds) {
  client_->receiver->OnMessage("1");
  Reach();
  server_->receiver->OnClosed();
  EXPECT_TRUE(client_->is_closing);
  client_->receiver->OnClosed();
  EXPECT_EQ(ends_, 1);
}

TEST_F(ForwardedConnectionTest, ClosesAClientWhoseServerCannotBeReached) {
  client_->receiver->OnMessage("1");
  Answer(Fail(ErrorKind::kDisconnected, "nobody listens"));
  EXPECT_TRUE(client_->is_closing);
  client_->receiver->OnClosed();
  EXPECT_EQ(ends_, 1);
}

TEST_F(ForwardedConnectionTest, AbandonsTheDialWhenTheClientEnds) {
  client_->receiver->OnMessage("1");
  client_->receiver->OnClosed();
  EXPECT_EQ(ends_, 1);
  Reach();
  EXPECT_EQ(server_->receiver, nullptr);
  EXPECT_THAT(server_->sent, IsEmpty());
}

TEST_F(ForwardedConnectionTest, ClosesBothSidesWhenItIsTold) {
  client_->receiver->OnMessage("1");
  Reach();
  connection_->Close();
  EXPECT_TRUE(client_->is_closing);
  EXPECT_TRUE(server_->is_closing);
}

}  // namespace
}  // namespace holdfast::remote
