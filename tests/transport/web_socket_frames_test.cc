#include "transport/web_socket_frames.h"

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

std::string Header(uint64_t payload_bytes) { return FrameHeader(Opcode::kText, Fragment::kLast, payload_bytes); }

TEST(FrameHeaderTest, UsesTheShortestLengthThatFits) {
  using namespace std::string_literals;
  EXPECT_EQ(Header(0), "\x81\x00"s);
  EXPECT_EQ(Header(125), "\x81\x7d"s);
  EXPECT_EQ(Header(126), "\x81\x7e\x00\x7e"s);
  EXPECT_EQ(Header(65535), "\x81\x7e\xff\xff"s);
  EXPECT_EQ(Header(65536), "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"s);
}

TEST(FrameHeaderTest, MarksFragments) {
  EXPECT_EQ(FrameHeader(Opcode::kText, Fragment::kMoreFollow, 1)[0], '\x01');
  EXPECT_EQ(FrameHeader(Opcode::kContinuation, Fragment::kMoreFollow, 1)[0], '\x00');
  EXPECT_EQ(FrameHeader(Opcode::kContinuation, Fragment::kLast, 1)[0], '\x80');
}

TEST(FrameHeaderTest, EndsWithTheMaskOfAClient) {
  using namespace std::string_literals;
  constexpr FrameMask kMask{'m', 'a', 's', 'k'};
  EXPECT_EQ(FrameHeader(Opcode::kText, Fragment::kLast, 5, kMask), "\x81\x85mask"s);
  EXPECT_EQ(FrameHeader(Opcode::kText, Fragment::kLast, 126, kMask), "\x81\xfe\x00\x7emask"s);
  EXPECT_EQ(FrameHeader(Opcode::kPing, Fragment::kLast, 0, kMask), "\x89\x80mask"s);
}

}  // namespace
}  // namespace holdfast::transport
