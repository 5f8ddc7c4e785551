#include "client/event_stream.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "loop/task.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using support::Base64;
using testing::ElementsAre;

std::string NumberedText(const ProcessEvent& event) {
  if (const auto* output = std::get_if<Output>(&event)) return fmt::format("{}:{}", output->seq, output->bytes);
  if (const auto* exited = std::get_if<Exited>(&event))
    return fmt::format("{} exits {}", exited->seq, exited->exit_code);
  if (const auto* closed = std::get_if<Closed>(&event)) return fmt::format("{} closed", closed->seq);
  if (const auto* lost = std::get_if<Lost>(&event)) return fmt::format("lost {}-{}", lost->from_seq, lost->to_seq);
  return "failed " + std::get<Failed>(event).error.message;
}

class EventStreamTest : public testing::Test, public EventStream::Owner, public EventListener {
 protected:
  EventStream& Make(Backlog backlog = {}) { return stream_.emplace(*this, backlog, 0); }
  void Push(uint64_t seq, std::string_view bytes) {
    EXPECT_TRUE(stream_->OnOutput(seq, wire::Stream::kStdout, Base64(bytes)));
  }
  std::vector<std::string> TakeAll() {
    std::vector<std::string> taken;
    while (auto event = stream_->Take()) {
      taken.push_back(NumberedText(*event));
      if (IsLast(*event)) break;
    }
    return taken;
  }
  void Listen() { stream_->Listen(this); }

  void OnBacklog(EventStream&) override { ++backlog_changes_; }
  void OnOutput(uint64_t seq, wire::Stream, std::string_view bytes) override {
    told_.push_back(fmt::format("{}:{}", seq, bytes));
  }
  void OnEvent(const ProcessEvent& event) override { told_.push_back(NumberedText(event)); }

  int backlog_changes_ = 0;
  std::vector<std::string> told_;
  std::optional<EventStream> stream_;
};

TEST_F(EventStreamTest, QueuesEventsInTheOrderOfTheirNumbers) {
  EventStream& stream = Make();
  Push(2, "b");
  EXPECT_EQ(stream.Take(), std::nullopt);
  Push(1, "a");
  stream.OnEvent(Closed{.seq = 4});
  stream.OnEvent(Exited{.seq = 3, .exit_code = 9});
  EXPECT_THAT(TakeAll(), ElementsAre("1:a", "2:b", "3 exits 9", "4 closed"));
}

TEST_F(EventStreamTest, ReturnsTheLastEventAgain) {
  EventStream& stream = Make();
  stream.OnEvent(Closed{.seq = 1});
  EXPECT_THAT(TakeAll(), ElementsAre("1 closed"));
  EXPECT_THAT(TakeAll(), ElementsAre("1 closed"));
}

TEST_F(EventStreamTest, HasNoEventAfterAFailure) {
  EventStream& stream = Make();
  Push(1, "a");
  stream.Fail({ErrorKind::kDisconnected, "gone"});
  Push(2, "b");
  stream.Fail({ErrorKind::kDisconnected, "gone again"});
  EXPECT_THAT(TakeAll(), ElementsAre("1:a", "failed gone"));
}

TEST_F(EventStreamTest, KnowsTheExitBeforeItsEventIsTaken) {
  EventStream& stream = Make();
  stream.OnEvent(Exited{.seq = 5, .exit_code = 3});
  ASSERT_TRUE(stream.exit());
  EXPECT_EQ(stream.exit()->exit_code, 3);
}

TEST_F(EventStreamTest, RefusesOutputThatIsNotBase64) {
  EventStream& stream = Make();
  EXPECT_FALSE(stream.OnOutput(1, wire::Stream::kStdout, "?"));
}

TEST_F(EventStreamTest, TellsAListenerWhatIsQueuedAndWhatFollows) {
  EventStream& stream = Make();
  Push(1, "a");
  Listen();
  Push(3, "c");
  Push(2, "b");
  stream.OnEvent(Exited{.seq = 4});
  stream.OnEvent(Closed{.seq = 5});
  EXPECT_THAT(told_, ElementsAre("1:a", "2:b", "3:c", "4 exits 0", "5 closed"));
}

TEST_F(EventStreamTest, TellsALateListenerTheEnd) {
  EventStream& stream = Make();
  Push(1, "a");
  stream.OnEvent(Closed{.seq = 2});
  Listen();
  EXPECT_THAT(told_, ElementsAre("1:a", "2 closed"));
}

TEST_F(EventStreamTest, IsFullFromItsBoundUntilHalfOfItIsTaken) {
  EventStream& stream = Make({.max_bytes = 4});
  for (uint64_t seq = 1; seq <= 3; ++seq) Push(seq, "x");
  EXPECT_FALSE(stream.full());
  Push(4, "x");
  EXPECT_TRUE(stream.full());
  (void)stream.Take();
  EXPECT_TRUE(stream.full());
  (void)stream.Take();
  EXPECT_FALSE(stream.full());
  EXPECT_EQ(backlog_changes_, 2);
}

TEST_F(EventStreamTest, KeepsWhatArrivesWhileItIsFull) {
  EventStream& stream = Make({.max_bytes = 1});
  Push(1, "a");
  Push(2, "b");
  EXPECT_TRUE(stream.full());
  EXPECT_THAT(TakeAll(), ElementsAre("1:a", "2:b"));
}

TEST_F(EventStreamTest, IsNotFullForAListener) {
  EventStream& stream = Make({.max_bytes = 1});
  Push(1, "a");
  Listen();
  EXPECT_FALSE(stream.full());
}

TEST_F(EventStreamTest, ReadsLaterWhatItHadNoRoomFor) {
  EventStream& stream = Make({.max_bytes = 2, .when_full = WhenFull::kReadLater});
  Push(1, "aa");
  Push(2, "b");
  stream.OnEvent(Exited{.seq = 3, .exit_code = 1});
  EXPECT_FALSE(stream.full());
  EXPECT_FALSE(stream.wants_retained());  // there is no room
  EXPECT_TRUE(stream.exit());
  EXPECT_THAT(TakeAll(), ElementsAre("1:aa"));
  ASSERT_TRUE(stream.wants_retained());
  stream.BeginCatchUp();
  stream.OnEvent(Closed{.seq = 4});  // arrives before the answer
  stream.OnRetained({.chunks = {{.seq = 2, .bytes = "b"}}, .next_seq = 4, .exited = true, .exit_code = 1});
  EXPECT_THAT(TakeAll(), ElementsAre("2:b", "3 exits 1", "4 closed"));
  EXPECT_FALSE(stream.wants_retained());
}

TEST_F(EventStreamTest, ReportsWhatTheServerHasDroppedMeanwhile) {
  EventStream& stream = Make({.max_bytes = 2, .when_full = WhenFull::kReadLater});
  Push(1, "aa");
  for (uint64_t seq = 2; seq <= 5; ++seq) Push(seq, "b");
  EXPECT_THAT(TakeAll(), ElementsAre("1:aa"));
  stream.BeginCatchUp();
  stream.OnRetained({.chunks = {{.seq = 5, .bytes = "b"}}, .next_seq = 6});
  EXPECT_THAT(TakeAll(), ElementsAre("lost 2-4", "5:b"));
}

TEST_F(EventStreamTest, DoesNotWaitForeverForAnEventThatNeverComes) {
  Make();
  Push(1, "a");
  Push(3, std::string((8 << 20) + 1, 'x'));
  EXPECT_THAT(TakeAll(), ElementsAre("1:a", "lost 2-2", testing::StartsWith("3:x")));
}

loop::Task<> TakeOne(EventStream& stream, std::string& taken) {
  while (true) {
    if (auto event = stream.Take()) {
      taken = NumberedText(*event);
      co_return;
    }
    co_await stream.changed().Next();
  }
}

TEST_F(EventStreamTest, WakesATaskThatWaits) {
  EventStream& stream = Make();
  std::string taken;
  loop::Scope scope;
  scope.Start(TakeOne(stream, taken));
  EXPECT_EQ(taken, "");
  Push(1, "a");
  EXPECT_EQ(taken, "1:a");
}

}  // namespace
}  // namespace holdfast::client
