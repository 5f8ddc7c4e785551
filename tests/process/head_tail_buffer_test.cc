#include "process/head_tail_buffer.h"

#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

// Returns what must remain of `text` in a buffer of `capacity`, computed in the plainest way.
std::string Expected(const std::string& text, size_t capacity) {
  if (text.size() <= capacity) return text;
  const size_t head = capacity / 2;
  return text.substr(0, head) + text.substr(text.size() - (capacity - head));
}

std::string Alphabet(size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(HeadTailBufferTest, KeepsEverythingUpToItsCapacity) {
  HeadTailBuffer buffer(6);
  buffer.Append("abc");
  buffer.Append("def");
  EXPECT_EQ(buffer.Text(), "abcdef");
  EXPECT_EQ(buffer.omitted_bytes(), 0u);
}

TEST(HeadTailBufferTest, ForgetsTheMiddle) {
  HeadTailBuffer buffer(6);
  buffer.Append("abcdefghij");
  EXPECT_EQ(buffer.Text(), "abchij");
  EXPECT_EQ(buffer.omitted_bytes(), 4u);
}

TEST(HeadTailBufferTest, GivesTheOddByteToTheTail) {
  HeadTailBuffer buffer(1);
  buffer.Append("ab");
  EXPECT_EQ(buffer.Text(), "b");
}

TEST(HeadTailBufferTest, KeepsNothingWithoutCapacity) {
  HeadTailBuffer buffer(0);
  buffer.Append("abc");
  EXPECT_EQ(buffer.Text(), "");
  EXPECT_EQ(buffer.omitted_bytes(), 3u);
}

TEST(HeadTailBufferTest, IsTheSameHoweverTheTextIsSplit) {
  const std::string text = Alphabet(40);
  for (size_t capacity = 0; capacity <= 14; ++capacity) {
    for (size_t step = 1; step <= text.size(); ++step) {
      HeadTailBuffer buffer(capacity);
      for (size_t at = 0; at < text.size(); at += step) buffer.Append(std::string_view(text).substr(at, step));
      ASSERT_EQ(buffer.Text(), Expected(text, capacity)) << capacity << " by " << step;
      ASSERT_EQ(buffer.omitted_bytes(), text.size() - buffer.Text().size()) << capacity << " by " << step;
    }
  }
}

}  // namespace
}  // namespace holdfast::process
