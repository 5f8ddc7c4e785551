#include "process/output_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint64_t> Seqs(const OutputLog& log, uint64_t after_seq, size_t max_bytes = SIZE_MAX) {
  std::vector<uint64_t> seqs;
  for (const Chunk* chunk : log.ReadAfter(after_seq, max_bytes)) seqs.push_back(chunk->seq);
  return seqs;
}

OutputLimits Limits(size_t bytes, size_t chunks, size_t snapshot = 0) {
  return {.retained_bytes = bytes, .retained_chunks = chunks, .snapshot_bytes_per_stream = snapshot};
}

// Returns a log of the chunks 1 to 5, with ten bytes each.
OutputLog FiveChunks(size_t max_bytes, size_t max_chunks = 100) {
  OutputLog log(Limits(max_bytes, max_chunks));
  for (uint64_t seq = 1; seq <= 5; ++seq) log.Append(seq, Stream::kStdout, "0123456789");
  return log;
}

TEST(OutputLogTest, ReturnsWhatWasAppended) {
  OutputLog log(Limits(100, 100));
  const Chunk& chunk = log.Append(7, Stream::kStderr, std::string_view("a\0b", 3));
  EXPECT_EQ(chunk.seq, 7u);
  EXPECT_EQ(chunk.stream, Stream::kStderr);
  EXPECT_EQ(chunk.bytes, std::string_view("a\0b", 3));
}

TEST(OutputLogTest, ReadsNothingFromAnEmptyLog) { EXPECT_THAT(Seqs(OutputLog(Limits(100, 100)), 0), IsEmpty()); }

TEST(OutputLogTest, FindsTheFirstChunkAfterTheNumberGiven) {
  const OutputLog log = FiveChunks(30);  // keeps 3, 4 and 5
  EXPECT_EQ(log.FirstAfter(0)->seq, 3u);
  EXPECT_EQ(log.FirstAfter(3)->seq, 4u);
  EXPECT_EQ(log.FirstAfter(5), nullptr);
}

TEST(OutputLogTest, KnowsHowMuchWasDropped) {
  EXPECT_EQ(FiveChunks(1000).dropped().last_seq, 0u);
  const OutputLog log = FiveChunks(30);  // keeps 3, 4 and 5
  EXPECT_EQ(log.dropped().last_seq, 2u);
  EXPECT_EQ(log.dropped().bytes, 20u);
}

TEST(OutputLogTest, ReadsAfterTheNumberGiven) {
  const OutputLog log = FiveChunks(1000);
  EXPECT_THAT(Seqs(log, 0), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(Seqs(log, 3), ElementsAre(4, 5));
  EXPECT_THAT(Seqs(log, 5), IsEmpty());
  EXPECT_THAT(Seqs(log, UINT64_MAX), IsEmpty());
}

TEST(OutputLogTest, StopsAtTheBudgetButGivesAtLeastOneChunk) {
  const OutputLog log = FiveChunks(1000);
  EXPECT_THAT(Seqs(log, 0, 0), ElementsAre(1));
  EXPECT_THAT(Seqs(log, 0, 1), ElementsAre(1));
  EXPECT_THAT(Seqs(log, 0, 19), ElementsAre(1));
  EXPECT_THAT(Seqs(log, 0, 20), ElementsAre(1, 2));
  EXPECT_THAT(Seqs(log, 2, 29), ElementsAre(3, 4));
}

TEST(OutputLogTest, FindsNumbersAcrossAGap) {
  OutputLog log(Limits(100, 100));
  log.Append(1, Stream::kStdout, "a");
  log.Append(5, Stream::kStdout, "b");  // the numbers 2 to 4 belong to other events
  EXPECT_THAT(Seqs(log, 1), ElementsAre(5));
  EXPECT_THAT(Seqs(log, 3), ElementsAre(5));
}

TEST(OutputLogTest, DropsOldestChunkFirst) {
  const OutputLog log = FiveChunks(35);
  EXPECT_THAT(Seqs(log, 0), ElementsAre(3, 4, 5));
  EXPECT_EQ(log.bytes(), 30u);
}

TEST(OutputLogTest, KeepsAsManyBytesAsAllowed) { EXPECT_THAT(Seqs(FiveChunks(50), 0), ElementsAre(1, 2, 3, 4, 5)); }

TEST(OutputLogTest, DropsChunksPastTheirNumber) { EXPECT_THAT(Seqs(FiveChunks(1000, 2), 0), ElementsAre(4, 5)); }

TEST(OutputLogTest, KeepsTheLastChunkWhateverItsSize) {
  OutputLog log = FiveChunks(35);
  log.Append(6, Stream::kStdout, std::string(1000, 'x'));
  EXPECT_THAT(Seqs(log, 0), ElementsAre(6));
  EXPECT_EQ(log.bytes(), 1000u);
}

// A log that has removed chunks must have the same snapshot as one that has kept everything.
class OutputLogSnapshotTest : public ::testing::TestWithParam<size_t> {};

TEST_P(OutputLogSnapshotTest, ShowsHeadAndTailWhateverWasEvicted) {
  OutputLog evicting(Limits(GetParam(), 1000, 20));
  HeadTailBuffer out(20), err(20);
  for (uint64_t seq = 1; seq <= 60; ++seq) {
    const bool to_out = seq < 30 || seq % 7 == 0;  // a flood on one stream, then mostly on the other
    const std::string bytes = std::to_string(seq) + std::string(seq % 5, 'x');
    evicting.Append(seq, to_out ? Stream::kStdout : Stream::kStderr, bytes);
    (to_out ? out : err).Append(bytes);
    const Snapshot snapshot = evicting.TakeSnapshot();
    ASSERT_EQ(snapshot.out, out.Text()) << "after chunk " << seq;
    ASSERT_EQ(snapshot.err, err.Text()) << "after chunk " << seq;
    ASSERT_EQ(snapshot.omitted_bytes, out.omitted_bytes() + err.omitted_bytes()) << "after chunk " << seq;
  }
}

INSTANTIATE_TEST_SUITE_P(RetainedBytes, OutputLogSnapshotTest, ::testing::Values(1, 8, 15, 30, 45, 100, 10'000));

}  // namespace
}  // namespace holdfast::process
