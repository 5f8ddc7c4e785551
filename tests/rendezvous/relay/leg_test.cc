#include "rendezvous/relay/leg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/relay/leg_fixture.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using support::Opcode;
using support::RunUntil;
using transport::Security;

// Tests of a leg that waits to be joined to another pipe.
class LegTest : public testing::TestWithParam<Security> {
 protected:
  void Connect(const LegLimits& limits = {}, std::string_view early = "") {
    ends_.emplace(fixture_.Connect(limits, [this] { ++ended_; }, early));
  }
  transport::CallClient& client() { return ends_->client; }
  bool HasEnded() {
    return RunUntil(fixture_.server.loop, [&] { return ended_ > 0; });
  }

  LegFixture fixture_{GetParam()};
  int ended_ = 0;
  std::optional<Ends> ends_;
};

INSTANTIATE_TEST_SUITE_P(, LegTest, testing::Values(Security::kPlain, Security::kTls),
                         [](const auto& test) { return test.param == Security::kTls ? "Tls" : "Plain"; });

TEST_P(LegTest, AnswersTheUpgrade) {
  Connect();
  EXPECT_TRUE(RunUntil(fixture_.server.loop, [&] { return client().received().ends_with("\r\n\r\n"); }));
  EXPECT_THAT(client().received(), testing::StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(client().received(), testing::HasSubstr("\r\nSec-WebSocket-Accept: "));
  EXPECT_EQ(ended_, 0);
}

TEST_P(LegTest, AnswersPingsThatArriveInPieces) {
  const std::string ping = Masked({.opcode = Opcode::kPing, .payload = "are you there"});
  Connect({}, ping.substr(0, 5));
  support::RunReady(fixture_.server.loop);
  for (const char byte : ping.substr(5) + ping) {
    client().Send(std::string_view(&byte, 1));
    support::RunReady(fixture_.server.loop);
  }
  const std::string pong = Unmasked({.opcode = Opcode::kPong, .payload = "are you there"});
  EXPECT_TRUE(fixture_.Gets(client(), pong + pong));
  EXPECT_EQ(ended_, 0);
}

TEST_P(LegTest, EndsWhenAPingIsNotAnswered) {
  Connect({.ping_interval = 100ms});
  const std::string ping = Unmasked({.opcode = Opcode::kPing});
  ASSERT_TRUE(fixture_.Gets(client(), ping));
  client().Send(Masked({.opcode = Opcode::kPong}));
  ASSERT_TRUE(fixture_.Gets(client(), ping + ping));
  EXPECT_EQ(ended_, 0);
  EXPECT_TRUE(HasEnded());
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_EQ(LegFixture::Frames(client()), ping + ping);
}

TEST_P(LegTest, EndsWithAnErrorWhenDataComes) {
  for (const auto opcode : {Opcode::kText, Opcode::kBinary}) {
    ended_ = 0;
    Connect();
    client().Send(Masked({.opcode = opcode, .payload = "data"}));
    EXPECT_TRUE(HasEnded());
    EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1002))));
    EXPECT_TRUE(fixture_.Ends(client()));
    EXPECT_EQ(ended_, 1);
  }
}

TEST_P(LegTest, SaysWhyItBreaksOff) {
  Connect();
  client().Send(Unmasked({.opcode = Opcode::kPing}) + "mask");
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1002))));
  EXPECT_TRUE(HasEnded());
  Connect({.max_frame_bytes = 100});
  client().Send(Masked({.payload = std::string(101, 'x')}));
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1009))));
}

TEST_P(LegTest, AnswersTheClosingHandshake) {
  Connect();
  client().Send(Masked({.opcode = Opcode::kClose, .payload = support::ClosePayload(1000, "reason")}));
  EXPECT_TRUE(HasEnded());
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1000))));
  EXPECT_TRUE(fixture_.Ends(client()));
}

TEST_P(LegTest, EndsWhenThePeerHangsUp) {
  Connect();
  support::RunReady(fixture_.server.loop);
  client().HangUp();
  EXPECT_TRUE(HasEnded());
  EXPECT_EQ(ended_, 1);
}

TEST_P(LegTest, SaysGoodbyeWhenItIsClosedAndDropped) {
  Connect();
  ends_->leg->Close();
  ends_->leg.reset();
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1001))));
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_EQ(ended_, 0);
}

TEST_P(LegTest, TellsAReceiverThatComesTooLate) {
  struct LateReceiver final : Pipe::Receiver {
    void OnBytes(std::string_view) override { ADD_FAILURE(); }
    void OnDrained() override { ADD_FAILURE(); }
    void OnEnded() override { told = true; }
    bool told = false;
  } receiver;
  Connect();
  client().HangUp();
  ASSERT_TRUE(HasEnded());
  ends_->leg->Start(receiver);
  EXPECT_FALSE(receiver.told);
  EXPECT_TRUE(RunUntil(fixture_.server.loop, [&] { return receiver.told; }));
}

}  // namespace
}  // namespace holdfast::rendezvous
