#include "exec_server/processes/observer_cursor.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using process::OutputLog;
using testing::ElementsAre;
using testing::IsEmpty;

// The events of a process whose log keeps the last two chunks.
class ObserverCursorTest : public testing::Test {
 protected:
  void Write() { log_.Append(next_seq_++, process::Stream::kStdout, "0123456789"); }
  void Write(int times) {
    for (int i = 0; i < times; ++i) Write();
  }
  void Exit() { exit_seq_ = next_seq_++; }
  void Close() { close_seq_ = next_seq_++; }

  std::optional<ObserverCursor::Event> Next(ObserverCursor& cursor) const {
    return cursor.Next({.log = log_, .next_seq = next_seq_, .exit_seq = exit_seq_, .close_seq = close_seq_});
  }

  static std::string Text(const ObserverCursor::Event& event) {
    if (const auto* lost = std::get_if<ObserverCursor::Lost>(&event)) {
      return fmt::format("lost {}-{}", lost->from_seq, lost->to_seq);
    }
    if (const auto* exited = std::get_if<ObserverCursor::Exited>(&event)) return fmt::format("exited {}", exited->seq);
    if (const auto* closed = std::get_if<ObserverCursor::Closed>(&event)) return fmt::format("closed {}", closed->seq);
    return fmt::format("chunk {}", std::get<const process::Chunk*>(event)->seq);
  }

  std::vector<std::string> Rest(ObserverCursor& cursor) const {
    std::vector<std::string> texts;
    while (auto event = Next(cursor)) texts.push_back(Text(*event));
    return texts;
  }

  OutputLog log_{{.retained_bytes = 20, .retained_chunks = 100, .snapshot_bytes_per_stream = 0}};
  uint64_t next_seq_ = 1;
  std::optional<uint64_t> exit_seq_, close_seq_;
};

TEST_F(ObserverCursorTest, HasNothingBeforeTheFirstEvent) {
  ObserverCursor cursor(0);
  EXPECT_THAT(Rest(cursor), IsEmpty());
  EXPECT_EQ(cursor.seen_seq(), 0u);
}

TEST_F(ObserverCursorTest, ReturnsEachEventOnceAndInOrder) {
  ObserverCursor cursor(0);
  Write();
  EXPECT_THAT(Rest(cursor), ElementsAre("chunk 1"));
  Write();
  Exit();
  EXPECT_THAT(Rest(cursor), ElementsAre("chunk 2", "exited 3"));
  Close();
  EXPECT_THAT(Rest(cursor), ElementsAre("closed 4"));
  EXPECT_THAT(Rest(cursor), IsEmpty());
}

TEST_F(ObserverCursorTest, BeginsAfterTheEventThatItIsGiven) {
  Write(2);
  ObserverCursor cursor(1);
  EXPECT_THAT(Rest(cursor), ElementsAre("chunk 2"));
}

TEST_F(ObserverCursorTest, ReturnsOutputThatFollowsTheExitInItsPlace) {
  ObserverCursor cursor(0);
  Write();
  Exit();
  Write();
  Close();
  EXPECT_THAT(Rest(cursor), ElementsAre("chunk 1", "exited 2", "chunk 3", "closed 4"));
}

TEST_F(ObserverCursorTest, ReportsTheNumbersOfWhatWasDropped) {
  ObserverCursor cursor(0);
  Write();
  EXPECT_THAT(Rest(cursor), ElementsAre("chunk 1"));
  Write(5);
  EXPECT_THAT(Rest(cursor), ElementsAre("lost 2-4", "chunk 5", "chunk 6"));
}

TEST_F(ObserverCursorTest, ReportsWhatWasDroppedWhileItReads) {
  ObserverCursor cursor(0);
  Write(2);
  EXPECT_EQ(Text(*Next(cursor)), "chunk 1");
  Write(3);
  EXPECT_THAT(Rest(cursor), ElementsAre("lost 2-3", "chunk 4", "chunk 5"));
}

TEST_F(ObserverCursorTest, NeverCountsTheExitAsLost) {
  ObserverCursor cursor(0);
  Write(2);
  Exit();
  Write(4);
  Close();
  EXPECT_THAT(Rest(cursor), ElementsAre("lost 1-2", "exited 3", "lost 4-5", "chunk 6", "chunk 7", "closed 8"));
}

TEST_F(ObserverCursorTest, ReportsOutputBetweenTheExitAndTheCloseAsLostIfNoneIsLeft) {
  ObserverCursor cursor(0);
  Exit();
  Write();
  Close();
  const OutputLog empty{{}};
  std::vector<std::string> texts;
  while (auto event =
             cursor.Next({.log = empty, .next_seq = next_seq_, .exit_seq = exit_seq_, .close_seq = close_seq_})) {
    texts.push_back(Text(*event));
  }
  EXPECT_THAT(texts, ElementsAre("exited 1", "lost 2-2", "closed 3"));
}

}  // namespace
}  // namespace holdfast::exec_server
