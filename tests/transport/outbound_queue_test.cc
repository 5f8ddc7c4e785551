#include "transport/outbound_queue.h"

#include <array>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

std::string Gathered(const OutboundQueue& queue) {
  std::array<iovec, 64> storage;
  std::string bytes;
  for (const iovec& vector : queue.Gather(storage)) {
    bytes.append(static_cast<const char*>(vector.iov_base), vector.iov_len);
  }
  return bytes;
}

size_t Vectors(const OutboundQueue& queue) {
  std::array<iovec, 64> storage;
  return queue.Gather(storage).size();
}

const std::string kLong(10'000, 'L');

TEST(OutboundQueueTest, KeepsTheOrderOfShortAndLongPieces) {
  OutboundQueue queue;
  queue.AppendCopy("a");
  queue.Append(kLong);
  queue.Append("b");
  queue.AppendCopy("c");
  EXPECT_EQ(Gathered(queue), "a" + kLong + "bc");
  EXPECT_EQ(queue.size(), kLong.size() + 3);
}

TEST(OutboundQueueTest, CopiesShortPiecesTogether) {
  OutboundQueue queue;
  for (int i = 0; i < 100; ++i) queue.Append("short message");
  EXPECT_EQ(Vectors(queue), 1u);
}

TEST(OutboundQueueTest, MovesALongPieceWithoutCopyingIt) {
  OutboundQueue queue;
  std::string piece = kLong;
  const char* bytes = piece.data();
  queue.AppendCopy("header");
  queue.Append(std::move(piece));
  std::array<iovec, 64> storage;
  const auto vectors = queue.Gather(storage);
  ASSERT_EQ(vectors.size(), 2u);
  EXPECT_EQ(vectors[1].iov_base, bytes);
}

TEST(OutboundQueueTest, GoesOnFromEveryOffsetOfAPartialWrite) {
  OutboundQueue whole;
  whole.Append(std::string(3'000, 'x'));
  whole.AppendCopy("yy");
  whole.Append(std::string(2'500, 'z'));
  const std::string expected = Gathered(whole);
  for (size_t offset = 0; offset <= expected.size(); ++offset) {
    OutboundQueue queue = whole;
    queue.Consume(offset);
    ASSERT_EQ(Gathered(queue), expected.substr(offset));
    ASSERT_EQ(queue.size(), expected.size() - offset);
  }
}

TEST(OutboundQueueTest, AppendsToAChunkThatIsPartlyGone) {
  OutboundQueue queue;
  queue.AppendCopy("abc");
  queue.Consume(2);
  queue.AppendCopy("def");
  EXPECT_EQ(Gathered(queue), "cdef");
}

TEST(OutboundQueueTest, IsUsableAfterItRanEmpty) {
  OutboundQueue queue;
  queue.AppendCopy("abc");
  queue.Consume(3);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(Vectors(queue), 0u);
  queue.AppendCopy("d");
  EXPECT_EQ(Gathered(queue), "d");
}

TEST(OutboundQueueTest, GathersNoMoreThanItIsAskedFor) {
  OutboundQueue queue;
  for (int i = 0; i < 3; ++i) queue.Append(kLong);
  std::array<iovec, 2> storage;
  EXPECT_EQ(queue.Gather(storage).size(), 2u);
}

}  // namespace
}  // namespace holdfast::transport
