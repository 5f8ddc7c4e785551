// The life of a leg as tables: the state before, an event, and what it leads to.
#include "rendezvous/relay/leg_life.h"

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

using State = LegLife::State;
constexpr LegLife::Marks kMarks{.high = 100, .low = 20};

// Returns a life in a state, to which the usual way leads.
LegLife In(State state) {
  LegLife life(State::kWaiting, kMarks);
  if (state == State::kJoined) EXPECT_TRUE(life.Join());
  if (state == State::kGoodbye) EXPECT_TRUE(life.SayGoodbye());
  if (state == State::kFailed) EXPECT_TRUE(life.Fail());
  if (state == State::kEnded) EXPECT_TRUE(life.End());
  EXPECT_EQ(life.state(), state);
  return life;
}

TEST(LegLifeTest, EachEventLeadsFromEachStateToOne) {
  struct Row {
    State from;
    bool (LegLife::*event)();
    bool makes_step;
    State to;
  };
  constexpr Row kRows[] = {
      {State::kWaiting, &LegLife::Join, true, State::kJoined},
      {State::kWaiting, &LegLife::SayGoodbye, true, State::kGoodbye},
      {State::kWaiting, &LegLife::Fail, true, State::kFailed},
      {State::kWaiting, &LegLife::End, true, State::kEnded},
      {State::kJoined, &LegLife::Join, true, State::kJoined},  // a link begins so
      {State::kJoined, &LegLife::SayGoodbye, true, State::kGoodbye},
      {State::kJoined, &LegLife::Fail, true, State::kFailed},
      {State::kJoined, &LegLife::End, true, State::kEnded},
      {State::kGoodbye, &LegLife::Join, false, State::kGoodbye},
      {State::kGoodbye, &LegLife::SayGoodbye, false, State::kGoodbye},
      {State::kGoodbye, &LegLife::Fail, true, State::kFailed},
      {State::kGoodbye, &LegLife::End, true, State::kEnded},
      {State::kFailed, &LegLife::Join, false, State::kFailed},
      {State::kFailed, &LegLife::SayGoodbye, false, State::kFailed},
      {State::kFailed, &LegLife::Fail, false, State::kFailed},
      {State::kFailed, &LegLife::End, true, State::kEnded},
      {State::kEnded, &LegLife::Join, false, State::kEnded},
      {State::kEnded, &LegLife::SayGoodbye, false, State::kEnded},
      {State::kEnded, &LegLife::Fail, false, State::kEnded},
      {State::kEnded, &LegLife::End, false, State::kEnded},
  };
  for (const Row& row : kRows) {
    LegLife life = In(row.from);
    const auto index = &row - kRows;
    EXPECT_EQ((life.*row.event)(), row.makes_step) << index;
    EXPECT_EQ(life.state(), row.to) << index;
  }
}

TEST(LegLifeTest, ReadsUnlessItsReceiverDoesNotWantThatOrItHasEnded) {
  struct Row {
    State state;
    bool reads, reads_while_off, over;
  };
  for (const Row& row : {Row{State::kWaiting, true, true, false}, Row{State::kJoined, true, false, false},
                         Row{State::kGoodbye, true, true, true}, Row{State::kFailed, false, false, true},
                         Row{State::kEnded, false, false, true}}) {
    LegLife life = In(row.state);
    EXPECT_EQ(life.reads(), row.reads) << static_cast<int>(row.state);
    EXPECT_EQ(life.over(), row.over) << static_cast<int>(row.state);
    life.SetReading(Reading::kOff);
    EXPECT_EQ(life.reads(), row.reads_while_off) << static_cast<int>(row.state);
    life.SetReading(Reading::kOn);
    EXPECT_EQ(life.reads(), row.reads) << static_cast<int>(row.state);
  }
}

TEST(LegLifeTest, ACongestionEndsOnceBelowTheLowMark) {
  LegLife life(State::kJoined, kMarks);
  struct Row {
    enum { kQueued, kSent } event;
    size_t bytes;
    bool drained, congested;
  };
  for (const Row& row :
       {Row{Row::kQueued, 99, false, false}, Row{Row::kSent, 0, false, false}, Row{Row::kQueued, 100, false, true},
        Row{Row::kSent, 20, false, true}, Row{Row::kQueued, 50, false, true}, Row{Row::kSent, 19, true, false},
        Row{Row::kSent, 0, false, false}}) {
    bool drained = false;
    if (row.event == Row::kQueued) life.OnQueued(row.bytes);
    if (row.event == Row::kSent) drained = life.OnSent(row.bytes);
    EXPECT_EQ(drained, row.drained) << row.bytes;
    EXPECT_EQ(life.congested(), row.congested) << row.bytes;
  }
  life.OnQueued(100);
  EXPECT_TRUE(life.End());
  EXPECT_FALSE(life.congested());
}

TEST(LegLifeTest, WritingEndsOnceBehindTheQueue) {
  LegLife life(State::kJoined, kMarks);
  EXPECT_FALSE(life.TakeEndOfWriting(0));
  life.CloseBehindQueue();
  EXPECT_FALSE(life.TakeEndOfWriting(1));
  EXPECT_TRUE(life.TakeEndOfWriting(0));
  life.CloseBehindQueue();
  EXPECT_FALSE(life.TakeEndOfWriting(0));
  EXPECT_TRUE(In(State::kGoodbye).TakeEndOfWriting(0));
}

TEST(LegLifeTest, APingWithoutAnAnswerIsTheLast) {
  LegLife life(State::kWaiting, kMarks);
  EXPECT_TRUE(life.OnPingTime());
  life.OnPong();
  EXPECT_TRUE(life.OnPingTime());
  EXPECT_FALSE(life.OnPingTime());
}

TEST(LegLifeTest, ASocketIsWatchedOnceForEachTime) {
  LegLife life(State::kWaiting, kMarks);
  EXPECT_TRUE(life.ArmRead());
  EXPECT_FALSE(life.ArmRead());
  EXPECT_TRUE(life.ArmWrite());
  EXPECT_TRUE(life.read_armed());
  life.OnReadable();
  EXPECT_FALSE(life.read_armed());
  EXPECT_FALSE(life.ArmWrite());
  EXPECT_TRUE(life.ArmRead());
  life.OnWritable();
  EXPECT_TRUE(life.ArmWrite());
}

}  // namespace
}  // namespace holdfast::rendezvous
