#include "client/event_order.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

Output Chunk(uint64_t seq) { return {.seq = seq, .stream = wire::Stream::kStdout, .bytes = std::to_string(seq)}; }

// Events as a short text: o3 is output 3, x4 the exit, c5 the close, and l1-2 says that 1 and 2 are lost.
std::string ShortText(const ProcessEvent& event) {
  if (const auto* output = std::get_if<Output>(&event)) return fmt::format("o{}", output->seq);
  if (const auto* exited = std::get_if<Exited>(&event)) return fmt::format("x{}", exited->seq);
  if (const auto* closed = std::get_if<Closed>(&event)) return fmt::format("c{}", closed->seq);
  if (const auto* lost = std::get_if<Lost>(&event)) return fmt::format("l{}-{}", lost->from_seq, lost->to_seq);
  return "failed";
}

ProcessEvent EventOf(std::string_view text) {
  const uint64_t seq = std::stoull(std::string(text.substr(1)));
  if (text[0] == 'x') return Exited{.seq = seq, .exit_code = 7};
  if (text[0] == 'c') return Closed{.seq = seq};
  return Chunk(seq);
}

uint64_t SeqOf(std::string_view text) { return std::stoull(std::string(text.substr(1))); }

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

class EventOrderTest : public testing::Test {
 protected:
  // An event arrives. It is published or held as a stream does it.
  void Arrive(std::string_view text) {
    const uint64_t seq = SeqOf(text);
    if (text[0] == 'o' && order_.PlaceOf(seq) == EventOrder::Place::kNext) {
      order_.PublishedOutput(seq);
      Append(std::string(text));
    } else {
      order_.Hold(EventOf(text));
    }
    Drain();
  }
  void Settle(RetainedOutput reading) {
    order_.Settle(std::move(reading));
    Drain();
  }
  void Drain() {
    while (auto event = order_.Next()) Append(ShortText(*event));
  }
  void Append(const std::string& word) { published_ += (published_.empty() ? "" : " ") + word; }

  EventOrder order_;
  std::string published_;
};

TEST_F(EventOrderTest, PublishesEventsThatComeInOrderAtOnce) {
  for (const char* event : {"o1", "o2", "x3", "c4"}) Arrive(event);
  EXPECT_EQ(published_, "o1 o2 x3 c4");
  EXPECT_EQ(order_.published(), 4U);
}

TEST_F(EventOrderTest, PublishesEveryPermutationInOrder) {
  std::vector<std::string> events{"o1", "o2", "x3", "o4", "c5"};
  std::vector<size_t> arrival(events.size());
  std::iota(arrival.begin(), arrival.end(), 0);
  do {
    order_ = EventOrder();
    published_.clear();
    for (const size_t i : arrival) Arrive(events[i]);
    ASSERT_EQ(published_, "o1 o2 x3 o4 c5");
  } while (std::ranges::next_permutation(arrival).found);
}

TEST_F(EventOrderTest, DropsEveryDuplicateWhereverItComes) {
  const std::vector<std::string> events{"o1", "o2", "x3", "c4"};
  for (size_t twice = 0; twice < events.size(); ++twice) {
    for (size_t at = 0; at <= events.size(); ++at) {
      order_ = EventOrder();
      published_.clear();
      auto arriving = events;
      arriving.insert(arriving.begin() + static_cast<long>(at), events[twice]);
      for (const auto& event : arriving) Arrive(event);
      ASSERT_EQ(published_, "o1 o2 x3 c4") << events[twice] << " again at " << at;
    }
  }
}

TEST_F(EventOrderTest, HoldsEventsBehindAGap) {
  for (const char* event : {"o1", "o3", "o4"}) Arrive(event);
  EXPECT_EQ(published_, "o1");
  EXPECT_EQ(order_.published(), 1U);
}

TEST_F(EventOrderTest, BeginsBehindTheGivenNumber) {
  order_ = EventOrder(5);
  for (const char* event : {"o5", "o6"}) Arrive(event);
  EXPECT_EQ(published_, "o6");
}

TEST_F(EventOrderTest, ReportsWhatTheServerSaysIsLost) {
  Arrive("o1");
  Arrive("o5");
  order_.Skip(2, 4);
  Drain();
  EXPECT_EQ(published_, "o1 l2-4 o5");
}

TEST_F(EventOrderTest, SkipsOnlyWhatItDoesNotHave) {
  Arrive("o1");
  Arrive("o3");
  order_.Skip(1, 5);
  Drain();
  EXPECT_EQ(published_, "o1 l2-2 o3 l4-5");
}

TEST_F(EventOrderTest, JoinsAdjacentLosses) {
  order_.Skip(2, 2);
  order_.Skip(3, 4);
  order_.Skip(1, 1);
  Drain();
  EXPECT_EQ(published_, "l1-1 l2-4");
}

// Readings after a reconnect: what had arrived before, what the server answers, and what the caller gets in all.
struct ReadingCase {
  const char* name;
  std::string before;  // events that had arrived
  std::string chunks;  // numbers of the chunks of the answer
  uint64_t next_seq;
  bool exited, closed;
  std::string after;  // events that arrive afterwards
  std::string published;
};

void PrintTo(const ReadingCase& test, std::ostream* out) { *out << test.name; }

class EventOrderReadingTest : public EventOrderTest, public testing::WithParamInterface<ReadingCase> {};

TEST_P(EventOrderReadingTest, PublishesOrReportsEveryNumber) {
  const ReadingCase& test = GetParam();
  for (const auto& event : Words(test.before)) Arrive(event);
  RetainedOutput reading{.next_seq = test.next_seq, .exited = test.exited, .closed = test.closed, .exit_code = 7};
  for (const auto& chunk : Words(test.chunks)) reading.chunks.push_back(Chunk(std::stoull(chunk)));
  Settle(std::move(reading));
  for (const auto& event : Words(test.after)) Arrive(event);
  EXPECT_EQ(published_, test.published);
}

INSTANTIATE_TEST_SUITE_P(
    Reconnect, EventOrderReadingTest,
    testing::Values(ReadingCase{"NothingMissed", "o1 o2", "", 3, false, false, "o3", "o1 o2 o3"},
                    ReadingCase{"NothingEver", "", "", 1, false, false, "o1", "o1"},
                    ReadingCase{"ServerCountsFromZero", "", "", 0, false, false, "o1", "o1"},
                    ReadingCase{"OutputMissed", "o1", "2 3", 4, false, false, "o4", "o1 o2 o3 o4"},
                    ReadingCase{"OutputMissedAndPushedAgain", "o1", "2 3", 4, false, false, "o2 o3 o4", "o1 o2 o3 o4"},
                    ReadingCase{"PushedBeforeTheAnswer", "o1 o3 o4", "2 3 4", 5, false, false, "o5", "o1 o2 o3 o4 o5"},
                    ReadingCase{"ExitMissed", "o1", "", 3, true, false, "c3", "o1 x2 c3"},
                    ReadingCase{"ExitAndCloseMissed", "o1", "", 4, true, true, "", "o1 x2 c3"},
                    ReadingCase{"ExitBetweenOutput", "o1", "2 4", 5, true, false, "o5", "o1 o2 x3 o4 o5"},
                    ReadingCase{"ExitKnownCloseMissed", "o1 x2", "", 4, true, true, "", "o1 x2 c3"},
                    ReadingCase{"ExitHeldCloseMissed", "o1 x3", "2", 5, true, true, "", "o1 o2 x3 c4"},
                    ReadingCase{"EverythingMissed", "", "1 2", 5, true, true, "", "o1 o2 x3 c4"},
                    ReadingCase{"OldestDropped", "o1", "4 5", 6, false, false, "o6", "o1 l2-3 o4 o5 o6"},
                    ReadingCase{"AllDropped", "o1", "", 4, false, false, "o4", "o1 l2-3 o4"},
                    ReadingCase{"DroppedThenExit", "o1", "4", 6, true, false, "", "o1 l2-3 o4 x5"},
                    ReadingCase{"DroppedThenExitAndClose", "o1", "4", 7, true, true, "", "o1 l2-3 o4 x5 c6"},
                    ReadingCase{"ExitAmongTheDropped", "o1", "5", 6, true, false, "", "o1 l2-3 x4 o5"},
                    ReadingCase{"ExitKnownRestDropped", "o1 x2", "5", 6, true, false, "", "o1 x2 l3-4 o5"},
                    ReadingCase{"DroppedAroundAHeldEvent", "o1 o4", "6", 7, false, false, "", "o1 l2-3 o4 l5-5 o6"},
                    ReadingCase{"OnlyTheCloseLeft", "o1 x2", "", 4, true, true, "c3", "o1 x2 c3"},
                    ReadingCase{"EverythingDroppedAndEnded", "", "", 6, true, true, "", "l1-3 x4 c5"}),
    [](const auto& test) { return std::string(test.param.name); });

// The connection is cut at every place of a conversation, and the answer to process/read brings the rest.
TEST_F(EventOrderTest, LosesNothingWhereverTheConnectionIsCut) {
  const std::vector<std::string> events{"o1", "o2", "x3", "o4", "c5"};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    order_ = EventOrder();
    published_.clear();
    for (size_t i = 0; i < cut; ++i) Arrive(events[i]);
    RetainedOutput reading{.next_seq = 6, .exited = true, .closed = true, .exit_code = 7};
    for (const uint64_t seq : {1, 2, 4}) {
      if (seq > order_.published()) reading.chunks.push_back(Chunk(seq));
    }
    Settle(std::move(reading));
    ASSERT_EQ(published_, "o1 o2 x3 o4 c5") << "cut behind event " << cut;
  }
}

TEST_F(EventOrderTest, KeepsTheExitCodeOfAReading) {
  order_.Settle({.next_seq = 2, .exited = true, .sandbox_denied = true, .exit_code = 42});
  EXPECT_EQ(order_.Next(), ProcessEvent(Exited{.seq = 1, .exit_code = 42, .sandbox_denied = true}));
}

TEST_F(EventOrderTest, BoundsWhatItHolds) {
  for (uint64_t seq = 2; seq < 4098; ++seq) order_.Hold(Closed{seq});
  EXPECT_FALSE(order_.overfull());
  order_.Hold(Closed{4098});
  EXPECT_TRUE(order_.overfull());
}

TEST_F(EventOrderTest, CountsTheBytesItHolds) {
  order_.Hold(Output{.seq = 2, .bytes = std::string((8 << 20) + 1, 'x')});
  EXPECT_TRUE(order_.overfull());
  Arrive("o1");
  EXPECT_FALSE(order_.overfull());
}

TEST_F(EventOrderTest, SurvivesImpossibleNumbers) {
  constexpr uint64_t kMax = ~uint64_t{0};
  order_.Hold(Closed{kMax});
  order_.Skip(1, kMax);
  Drain();
  EXPECT_EQ(published_, fmt::format("l1-{}", kMax - 1));
}

}  // namespace
}  // namespace holdfast::client
