// Links between two nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/link/link_fixture.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using transport::Security;

class LinkTest : public LinkFixture, public testing::WithParamInterface<Security> {
 protected:
  LinkTest() { Announce(near, far.bus.own_place); }

  LinkedNode near{loop, "near", GetParam()}, far{loop, "far", GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, LinkTest, testing::Values(Security::kPlain, Security::kTls),
                         [](const auto& test) { return test.param == Security::kTls ? "Tls" : "Plain"; });

TEST_P(LinkTest, BytesGoBothWays) {
  auto joined = Join(near);
  ASSERT_TRUE(joined);
  PipeUser client(*joined);
  ASSERT_EQ(far.joined.size(), 1u);
  client.pipe->Send("from the client");
  far.joined[0]->pipe->Send(std::string_view("from \0 the executor", 19));
  EXPECT_TRUE(RunUntil([&] { return far.joined[0]->received == "from the client"; }));
  EXPECT_TRUE(RunUntil([&] { return client.received == std::string_view("from \0 the executor", 19); }));
}

TEST_P(LinkTest, TheEndOfEitherSideEndsTheOtherAfterItsLastBytes) {
  far.waiting = 2;
  PipeUser first(*Join(near)), second(*Join(near));
  first.pipe->Send("last words");
  first.pipe->Close();
  EXPECT_TRUE(RunUntil([&] { return far.joined[0]->ended; }));
  EXPECT_EQ(far.joined[0]->received, "last words");
  far.joined[1]->pipe->Send("of the executor");
  far.joined[1]->pipe->Close();
  EXPECT_TRUE(RunUntil([&] { return second.ended; }));
  EXPECT_EQ(second.received, "of the executor");
  EXPECT_FALSE(first.ended);  // it has closed the pipe itself
}

TEST_P(LinkTest, ASenderWaitsForAReaderThatDoesNotRead) {
  PipeUser client(*Join(near));
  PipeUser& executor = *far.joined.at(0);
  executor.pipe->SetReading(Reading::kOff);
  const std::string piece(100'000, 'x');
  size_t sent = 0;
  const auto fill = [&] {
    while (!client.pipe->congested()) client.pipe->Send(piece), sent += piece.size();
    return false;
  };
  support::RunUntil(loop, fill, 200ms);  // until the buffers of the sockets are full
  EXPECT_TRUE(executor.received.empty());
  EXPECT_LT(sent, 64u << 20);
  executor.pipe->SetReading(Reading::kOn);
  EXPECT_TRUE(RunUntil([&] { return executor.received.size() == sent; }));
  EXPECT_FALSE(client.pipe->congested());
}

TEST_P(LinkTest, ManyClientsShareOneWatch) {
  far.waiting = 4;
  std::vector<std::optional<Joined>> answers(6);
  loop::Scope scope;
  for (auto& answer : answers) scope.Start(StoreResult(near.dialler->Join("build-1"), answer));
  EXPECT_TRUE(RunUntil([&] { return std::ranges::all_of(answers, [](auto& answer) { return answer.has_value(); }); }));
  EXPECT_EQ(std::ranges::count_if(answers, [](auto& answer) { return answer->has_value(); }), 4);
  EXPECT_EQ(far.calls, 7);  // the watch, and a link for each
  for (auto& answer : answers) {
    if (!*answer) EXPECT_EQ(answer->error(), NotElsewhere::kNoneWaits);
  }
}

TEST_P(LinkTest, TheEndOfANodeEndsItsLinks) {
  PipeUser client(*Join(near));
  far.joined.clear();
  far.door->Close();
  EXPECT_TRUE(RunUntil([&] { return client.ended; }));
  far.waiting = 1;
  PipeUser again(JoinAtLast(near));  // by another watch
  near.dialler.reset();
  EXPECT_TRUE(RunUntil([&] { return again.ended && far.joined[0]->ended; }));
}

TEST_P(LinkTest, AWatchThatTheOtherNodeHasForgottenIsMadeAgain) {
  PipeUser client(*Join(near));
  far.door->Close();
  far.waiting = 1;
  const PipeUser again(JoinAtLast(near));
  EXPECT_FALSE(again.ended);
}

TEST_P(LinkTest, ALinkWithoutTrafficLivesOn) {
  PipeUser client(*Join(near));
  const auto end = std::chrono::steady_clock::now() + 2s;  // longer than a byte of the watch may be unanswered
  EXPECT_TRUE(RunUntil([&] { return std::chrono::steady_clock::now() >= end; }));
  client.pipe->Send("still there");
  EXPECT_TRUE(RunUntil([&] { return far.joined[0]->received == "still there"; }));
}

TEST_P(LinkTest, AHundredMegabytesArriveWhole) {
  constexpr size_t kTotal = 100u << 20;
  PipeUser client(*Join(near));
  std::string piece(100'000, '\0');
  for (size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<char>(i % 251);
  size_t sent = 0;
  const auto is_done = [&] {
    while (sent < kTotal && !client.pipe->congested()) client.pipe->Send(piece), sent += piece.size();
    return sent >= kTotal && far.joined[0]->received.size() >= sent;
  };
  ASSERT_TRUE(support::RunUntil(loop, is_done, 120s));
  for (size_t at = 0; at < sent; at += piece.size()) {
    ASSERT_EQ(std::string_view(far.joined[0]->received).substr(at, piece.size()), piece) << at;
  }
}

class NoLinkTest : public LinkFixture {};

TEST_F(NoLinkTest, AnExecutorThatNobodyHasIsUnknown) {
  LinkedNode near(loop, "near");
  EXPECT_EQ(Join(near).error(), NotElsewhere::kUnknown);
  near.bus.is_connected = false;
  EXPECT_EQ(Join(near).error(), NotElsewhere::kNotReady);
}

TEST_F(NoLinkTest, ANodeWhoseRecordHasNoConnectionIsNotDialled) {
  LinkedNode near(loop, "near"), far(loop, "far");
  Announce(near, far.bus.own_place);
  near.bus.elsewhere[0].record.waiting = 0;
  EXPECT_EQ(Join(near).error(), NotElsewhere::kNoneWaits);
  EXPECT_EQ(far.calls, 0);
}

TEST_F(NoLinkTest, ANodeThatHasNoneAnyMoreRefuses) {
  LinkedNode near(loop, "near"), far(loop, "far");
  Announce(near, far.bus.own_place);
  far.waiting = 0;
  EXPECT_EQ(Join(near).error(), NotElsewhere::kNoneWaits);
  EXPECT_THAT(far.asked, ElementsAre("build-1"));
}

TEST_F(NoLinkTest, AnotherNodeIsTriedIfOneCannotBeReached) {
  LinkedNode near(loop, "near"), far(loop, "far"), refusing(loop, "refusing");
  refusing.waiting = 0;
  Announce(near, {.name = "gone", .url = "http://127.0.0.1:1"}, 3);
  Announce(near, refusing.bus.own_place, 2);
  Announce(near, far.bus.own_place, 1);
  ASSERT_TRUE(Join(near));
  EXPECT_THAT(refusing.asked, ElementsAre("build-1"));
}

TEST_F(NoLinkTest, ANodeThatCannotBeReachedIsNotDialledForEachClient) {
  LinkedNode near(loop, "near"), far(loop, "far");
  Announce(near, far.bus.own_place);
  far.bus.key = "another key";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Join(near).error(), NotElsewhere::kUnreachable);
  EXPECT_EQ(far.calls, 1);
  far.bus.key = near.bus.key;
  EXPECT_TRUE(RunUntil([&] { return Join(near).has_value(); }));
}

TEST_F(NoLinkTest, AUrlThatCannotBeUsedIsNotDialled) {
  LinkedNode near(loop, "near");
  for (const char* url : {"", "nonsense", "unix:///run/x.sock", "http://192.0.2.1:80", "http://rv.example.org"}) {
    near.bus.elsewhere.clear();
    Announce(near, {.name = url, .url = url});
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Join(near).error(), NotElsewhere::kUnreachable) << url;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s) << url;
  }
}

}  // namespace
}  // namespace holdfast::rendezvous
