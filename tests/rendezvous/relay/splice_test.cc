#include "rendezvous/relay/splice.h"

#include <gtest/gtest.h>

#include "rendezvous/relay/leg_fixture.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using support::Opcode;
using support::RunUntil;
using transport::Security;

constexpr size_t kFloodBytes = 100u << 20;  // more than sockets hold

class SpliceTest : public testing::TestWithParam<Security> {
 protected:
  // Joins a client to an executor. The texts are what they send before they are joined.
  void Join(const LegLimits& limits = {}, std::string_view of_client = "", std::string_view of_executor = "") {
    executor_.emplace(fixture_.Connect(limits, [] { ADD_FAILURE() << "the executor is gone"; }));
    support::RunReady(fixture_.server.loop);
    executor().Send(of_executor);
    support::RunReady(fixture_.server.loop);
    client_.emplace(fixture_.Connect(limits, [] { ADD_FAILURE() << "the client is gone"; }, of_client));
    splice_.emplace(std::move(client_->leg), std::move(executor_->leg), [this] {
      ++ended_;
      splice_.reset();
    });
  }
  transport::CallClient& client() { return client_->client; }
  transport::CallClient& executor() { return executor_->client; }
  bool HasEnded() {
    return RunUntil(fixture_.server.loop, [&] { return ended_ > 0; });
  }

  // Sends to the splice until nothing more is taken, or kFloodBytes were. Returns the number of bytes that the sender
  // could write.
  size_t Flood(transport::CallClient& sender, const std::string& frame, std::string& rest) {
    size_t sent = 0;
    for (int idle_turns = 0; idle_turns < 50; ++idle_turns) {
      for (;;) {
        if (rest.empty()) rest = frame;
        const iovec bytes{rest.data(), rest.size()};
        const ssize_t count = sender.stream().Write(std::span(&bytes, 1));
        if (count <= 0) break;
        rest.erase(0, static_cast<size_t>(count));
        sent += static_cast<size_t>(count);
        idle_turns = 0;
        if (sent > kFloodBytes) return sent;
      }
      support::RunReady(fixture_.server.loop);
    }
    return sent;
  }

  LegFixture fixture_{GetParam()};
  int ended_ = 0;
  std::optional<Ends> client_, executor_;
  std::optional<Splice> splice_;
};

INSTANTIATE_TEST_SUITE_P(, SpliceTest, testing::Values(Security::kPlain, Security::kTls),
                         [](const auto& test) { return test.param == Security::kTls ? "Tls" : "Plain"; });

TEST_P(SpliceTest, PassesAllKindsOfFramesInBothDirections) {
  const support::Frame early{.payload = "early"}, ping{.opcode = Opcode::kPing, .payload = "p"},
      pong{.opcode = Opcode::kPong, .payload = "p"}, first{.fin = false, .payload = "fir"},
      rest{.opcode = Opcode::kContinuation, .payload = "st"},
      large{.opcode = Opcode::kBinary, .payload = std::string(100'000, 'x')};
  Join({}, Masked(early));
  client().Send(Masked(ping) + Masked(first) + Masked(rest) + Masked(large));
  const std::string expected = Unmasked(early) + Unmasked(ping) + Unmasked(first) + Unmasked(rest) + Unmasked(large);
  EXPECT_TRUE(fixture_.Gets(executor(), expected));
  executor().Send(Masked(pong) + Masked(large));
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(pong) + Unmasked(large)));
  EXPECT_EQ(splice_->bytes(), expected.size() + Unmasked(pong).size() + Unmasked(large).size());
  EXPECT_EQ(ended_, 0);
}

TEST_P(SpliceTest, PassesAFrameThatBeganBeforeThePipesWereJoined) {
  const support::Frame ping{.opcode = Opcode::kPing, .payload = "twelve bytes"};
  for (size_t cut = 1; cut < Masked(ping).size(); cut += 5) {
    Join({}, "", Masked(ping).substr(0, cut));
    executor().Send(Masked(ping).substr(cut));
    EXPECT_TRUE(fixture_.Gets(client(), Unmasked(ping))) << cut;
  }
}

TEST_P(SpliceTest, ClosesBothConnectionsAfterTheClosingHandshake) {
  Join({.close_timeout = 60s});
  client().Send(Masked(Close(1000)));
  EXPECT_TRUE(fixture_.Gets(executor(), Unmasked(Close(1000))));
  EXPECT_EQ(ended_, 0);
  executor().Send(Masked(Close(1000)));
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1000))));
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_TRUE(fixture_.Ends(executor()));
  client().HangUp();
  EXPECT_TRUE(HasEnded());
  EXPECT_EQ(ended_, 1);
}

TEST_P(SpliceTest, EndsWhenTheClosingHandshakeIsNotAnswered) {
  Join({.close_timeout = 100ms});
  client().Send(Masked(Close(1000)));
  EXPECT_TRUE(HasEnded());
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_TRUE(fixture_.Ends(executor()));
  EXPECT_EQ(LegFixture::Frames(executor()), Unmasked(Close(1000)));
}

TEST_P(SpliceTest, TellsOneSideAtOnceThatTheOtherIsGone) {
  Join();
  const support::Frame last{.payload = "last words"};
  executor().Send(Masked(last));
  executor().HangUp();
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(last) + Unmasked(Close(1001))));
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_EQ(ended_, 1);
}

// A Close frame inside another frame would be taken for a part of its payload.
TEST_P(SpliceTest, SendsNoCloseFrameIntoTheMiddleOfAFrame) {
  Join();
  const std::string frame = Masked({.payload = "half of this is missing"});
  executor().Send(frame.substr(0, 15));
  ASSERT_TRUE(fixture_.Gets(client(), Unmasked({.payload = "half of this is missing"}).substr(0, 11)));
  executor().HangUp();
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_EQ(LegFixture::Frames(client()).size(), 11u);
}

TEST_P(SpliceTest, EndsBothWhenOneBreaksTheProtocol) {
  Join();
  client().Send(Masked({.payload = "fine"}) + Masked({.rsv = 1}));
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1002))));
  EXPECT_TRUE(fixture_.Gets(executor(), Unmasked({.payload = "fine"}) + Unmasked(Close(1001))));
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_TRUE(fixture_.Ends(executor()));
  EXPECT_EQ(ended_, 1);
}

// The sockets hold some megabytes, and the splice not more than its limit and one read.
TEST_P(SpliceTest, StopsAWriterWhoseReaderDoesNotReadAndGoesOnLater) {
  Join({.high_water_bytes = 100'000, .low_water_bytes = 20'000});
  const std::string payload(50'000, 'f');
  std::string rest;
  size_t sent = Flood(executor(), Masked({.payload = payload}), rest);
  const uint64_t passed = splice_->bytes();
  sent += Flood(executor(), Masked({.payload = payload}), rest);
  EXPECT_EQ(splice_->bytes(), passed);
  EXPECT_LT(passed + 200'000, sent);  // the rest waits in the sockets between the executor and the splice

  client().Send(Masked({.payload = "the other direction is open"}));
  EXPECT_TRUE(fixture_.Gets(executor(), Unmasked({.payload = "the other direction is open"})));

  const std::string frame = Unmasked({.payload = payload});
  const size_t expected = sent / Masked({.payload = payload}).size() * frame.size();
  EXPECT_TRUE(RunUntil(fixture_.server.loop, [&] { return LegFixture::Frames(client()).size() >= expected; }));
  const std::string_view got = LegFixture::Frames(client());
  for (size_t at = 0; at + frame.size() <= got.size(); at += frame.size()) {
    ASSERT_TRUE(got.substr(at, frame.size()) == frame) << at;
  }
  EXPECT_EQ(ended_, 0);
}

TEST_P(SpliceTest, NoticesThatAWriterIsGoneThatIsNotRead) {
  Join();
  std::string rest;
  Flood(executor(), Masked({.payload = std::string(50'000, 'f')}), rest);
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(executor().stream().fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
  executor().HangUp();
  EXPECT_TRUE(HasEnded());
}

TEST_P(SpliceTest, ClosesBothPipesWhenItIsDestroyed) {
  Join();
  splice_.reset();
  EXPECT_TRUE(fixture_.Gets(client(), Unmasked(Close(1001))));
  EXPECT_TRUE(fixture_.Gets(executor(), Unmasked(Close(1001))));
  EXPECT_TRUE(fixture_.Ends(client()));
  EXPECT_TRUE(fixture_.Ends(executor()));
  EXPECT_EQ(ended_, 0);
}

}  // namespace
}  // namespace holdfast::rendezvous
