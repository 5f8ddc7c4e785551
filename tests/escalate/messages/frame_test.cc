#include "escalate/messages/frame.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::escalate {
namespace {

std::vector<sys::ForeignFd> OneFd() {
  std::vector<sys::ForeignFd> fds;
  fds.push_back(*sys::OpenDevNull());
  return fds;
}

// Adds all bytes as reads of at most `piece` bytes would, and returns the frames.
std::vector<std::string> ReadAll(FrameReader& reader, std::string_view bytes, size_t piece) {
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    const size_t size = std::min({piece, reader.wanted(), bytes.size()});
    auto frame = reader.Add(bytes.substr(0, size), {});
    if (!frame) {
      frames.push_back("error: " + frame.error().message);
      return frames;
    }
    if (*frame) frames.push_back(std::move((*frame)->text));
    bytes.remove_prefix(size);
  }
  return frames;
}

TEST(FrameTest, HasItsLengthInFrontWithTheLowestByteFirst) {
  EXPECT_EQ(FrameOf("{}"), std::string("\x02\0\0\0{}", 6));
  EXPECT_EQ(FrameOf(std::string(0x1234, 'x')).substr(0, 4), std::string("\x34\x12\0\0", 4));
}

TEST(FrameReaderTest, PutsFramesTogetherFromPiecesOfAnySize) {
  const std::string bytes = FrameOf(R"({"action":"Run"})") + FrameOf("{}") + FrameOf(std::string(300, 'y'));
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameReader reader;
    EXPECT_EQ(ReadAll(reader, bytes, piece),
              (std::vector<std::string>{R"({"action":"Run"})", "{}", std::string(300, 'y')}))
        << piece;
  }
}

TEST(FrameReaderTest, NeverWantsBytesOfTheNextFrame) {
  FrameReader reader;
  EXPECT_EQ(reader.wanted(), 4u);
  ASSERT_TRUE(reader.Add(std::string("\x05\0", 2), {}));
  EXPECT_EQ(reader.wanted(), 2u);
  ASSERT_TRUE(reader.Add(std::string("\0\0", 2), {}));
  EXPECT_EQ(reader.wanted(), 5u);
  ASSERT_TRUE(reader.Add("abc", {}));
  EXPECT_EQ(reader.wanted(), 2u);
  const auto frame = reader.Add("de", {});
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->text, "abcde");
  EXPECT_EQ(reader.wanted(), 4u);
}

TEST(FrameReaderTest, CompletesAnEmptyFrameWithItsHeader) {
  FrameReader reader;
  EXPECT_EQ(ReadAll(reader, std::string(8, '\0'), 8), (std::vector<std::string>{"", ""}));
}

TEST(FrameReaderTest, RefusesALengthAboveItsLimit) {
  FrameReader small(10);
  EXPECT_EQ(ReadAll(small, FrameOf("0123456789"), 100), (std::vector<std::string>{"0123456789"}));
  EXPECT_EQ(ReadAll(small, FrameOf("0123456789a"), 100),
            (std::vector<std::string>{"error: a frame of 11 bytes is too long"}));
  FrameReader usual;
  EXPECT_EQ(ReadAll(usual, "\xff\xff\xff\xff", 100),
            (std::vector<std::string>{"error: a frame of 4294967295 bytes is too long"}));
}

TEST(FrameReaderTest, TakesDescriptorsWithTheFirstBytesOfAFrame) {
  FrameReader reader;
  ASSERT_TRUE(reader.Add(std::string("\x02\0", 2), OneFd()));
  ASSERT_TRUE(reader.Add(std::string("\0\0", 2), {}));
  const auto frame = reader.Add("{}", {});
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->fds.size(), 1u);
  const auto next = reader.Add(std::string(4, '\0'), {});
  ASSERT_TRUE(next && *next);
  EXPECT_TRUE((*next)->fds.empty());
}

TEST(FrameReaderTest, RefusesDescriptorsInTheMiddleOfAFrame) {
  for (const size_t before : {1, 4, 5}) {
    FrameReader reader;
    const std::string bytes = FrameOf("{}");
    (void)ReadAll(reader, std::string_view(bytes).substr(0, before), 4);
    EXPECT_FALSE(reader.Add(std::string_view(bytes).substr(before, 1), OneFd())) << before;
  }
}

}  // namespace
}  // namespace holdfast::escalate
