#include "rendezvous/relay/frame_rewriter.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rendezvous/relay/frame_cursor.h"
#include "support/web_socket_client.h"

namespace holdfast::rendezvous {
namespace {

using support::BuildFrame;
using support::Frame;
using support::Opcode;

constexpr uint64_t kMaxFrameBytes = 100'000;

struct Rewritten {
  std::string frames;
  std::string failure;

  friend bool operator==(const Rewritten&, const Rewritten&) = default;
};

// Rewrites the input in pieces that end at the cuts.
Rewritten Rewrite(std::string_view input, const std::vector<size_t>& cuts = {}) {
  FrameRewriter rewriter(kMaxFrameBytes);
  Rewritten result;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    std::string piece(FrameRewriter::kHeadroomBytes, '#');
    piece += input.substr(begin, end - begin);
    result.frames += rewriter.Rewrite(std::span(piece).subspan(FrameRewriter::kHeadroomBytes));
    begin = end;
  };
  for (const size_t cut : cuts) add(cut);
  add(input.size());
  if (rewriter.failure()) result.failure = rewriter.failure()->message;
  return result;
}

std::string Masked(Frame frame) {
  frame.masked = true;
  return BuildFrame(frame);
}

std::string Unmasked(Frame frame) {
  frame.masked = false;
  return BuildFrame(frame);
}

std::string Payload(size_t size) {
  std::string payload;
  for (size_t i = 0; i < size; ++i) payload.push_back(static_cast<char>(i * 31 + 7));
  return payload;
}

TEST(FrameRewriterTest, RemovesTheMaskFromFramesOfEveryForm) {
  for (const size_t size : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 124u, 125u, 126u, 127u, 1000u, 65'535u, 65'536u, 100'000u}) {
    const Frame frame{.opcode = Opcode::kBinary, .payload = Payload(size)};
    const Rewritten result = Rewrite(Masked(frame));
    EXPECT_TRUE(result.frames == Unmasked(frame)) << size;
    EXPECT_EQ(result.failure, "") << size;
  }
}

const std::vector<Frame> kConversation = {
    {.opcode = Opcode::kText, .payload = "hello"},
    {.opcode = Opcode::kPing, .payload = ""},
    {.fin = false, .opcode = Opcode::kBinary, .payload = Payload(130)},
    {.opcode = Opcode::kPong, .payload = Payload(125)},
    {.fin = false, .opcode = Opcode::kContinuation, .payload = ""},
    {.opcode = Opcode::kContinuation, .payload = Payload(3)},
    {.opcode = Opcode::kText, .payload = ""},
    {.opcode = Opcode::kClose, .payload = support::ClosePayload(1000, "bye")},
};

std::string Joined(std::string (*form)(Frame)) {
  std::string bytes;
  for (const Frame& frame : kConversation) bytes += form(frame);
  return bytes;
}

TEST(FrameRewriterTest, GivesTheSameBytesForEveryCut) {
  const std::string input = Joined(Masked), expected = Joined(Unmasked);
  ASSERT_EQ(Rewrite(input), (Rewritten{expected, ""}));
  std::vector<size_t> everywhere;
  for (size_t first = 0; first <= input.size(); ++first) {
    everywhere.push_back(first);
    for (size_t second = first; second <= input.size(); ++second) {
      ASSERT_EQ(Rewrite(input, {first, second}), (Rewritten{expected, ""})) << first << " " << second;
    }
  }
  EXPECT_EQ(Rewrite(input, everywhere), (Rewritten{expected, ""}));
}

TEST(FrameRewriterTest, GivesTheSameBytesForRandomFramesAndCuts) {
  std::mt19937 random(1);
  const auto up_to = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit)(random); };
  for (int round = 0; round < 300; ++round) {
    std::string input, expected;
    for (size_t count = up_to(6); count > 0; --count) {
      const Frame frame{.opcode = Opcode::kBinary, .payload = Payload(up_to(3) == 0 ? up_to(70'000) : up_to(300))};
      input += Masked(frame);
      expected += Unmasked(frame);
    }
    std::vector<size_t> cuts(up_to(20));
    for (size_t& cut : cuts) cut = up_to(input.size());
    std::ranges::sort(cuts);
    const Rewritten result = Rewrite(input, cuts);
    ASSERT_TRUE(result.frames == expected) << round;
    ASSERT_EQ(result.failure, "");
  }
}

// Each breach comes behind a whole frame, which is returned all the same, however the stream is cut.
TEST(FrameRewriterTest, RefusesWhatBreaksTheProtocol) {
  struct Case {
    std::string bytes;
    std::string failure;
  };
  const std::string mask(4, '\0');
  const auto header = [&](std::initializer_list<int> bytes) {
    std::string text;
    for (const int byte : bytes) text.push_back(static_cast<char>(byte));
    return text + mask;
  };
  std::vector<Case> cases = {
      {Unmasked({.payload = "x"}) + mask, "a frame has no mask"},
      {Unmasked({.opcode = Opcode::kClose}) + mask, "a frame has no mask"},
      {Masked({.rsv = 1}), "a frame has reserved bits"},
      {Masked({.rsv = 2}), "a frame has reserved bits"},
      {Masked({.rsv = 4, .opcode = Opcode::kPing}), "a frame has reserved bits"},
      {header({0x82, 0x80 | 126, 0, 125}), "the length of a frame is not in its shortest form"},
      {header({0x82, 0x80 | 126, 0, 0}), "the length of a frame is not in its shortest form"},
      {header({0x89, 0x80 | 126, 0, 5}), "the length of a frame is not in its shortest form"},
      {header({0x82, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff}), "the length of a frame is not in its shortest form"},
      {header({0x82, 0x80 | 127, 0x80, 0, 0, 0, 0, 1, 0, 0}), "the length of a frame has more than 63 bits"},
      {header({0x82, 0x80 | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), "a frame is too long"},
      {header({0x82, 0x80 | 127, 0, 0, 0, 0, 0, 1, 0x86, 0xa1}), "a frame is too long"},  // 100001
      {Masked({.fin = false, .opcode = Opcode::kPing}), "a control frame is fragmented"},
      {Masked({.fin = false, .opcode = Opcode::kClose}), "a control frame is fragmented"},
      {header({0x89, 0x80 | 126, 0, 126}), "a control frame is too long"},
      {header({0x8a, 0x80 | 127, 0, 0, 0, 0, 0, 1, 0, 0}), "a control frame is too long"},
      {Masked({.opcode = Opcode::kClose, .payload = "x"}), "a Close frame has half a code"},
      {Masked({.opcode = Opcode::kContinuation}), "a fragment continues no message"},
      {Masked({.fin = false, .opcode = Opcode::kContinuation}), "a fragment continues no message"},
  };
  for (const int opcode : {0x3, 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf}) {
    cases.push_back({Masked({.opcode = static_cast<Opcode>(opcode)}), "a frame has a reserved opcode"});
  }
  const Frame before{.payload = "before"}, after{.payload = "after"};
  for (const Case& c : cases) {
    const std::string input = Masked(before) + c.bytes + Masked(after);
    for (size_t cut = 0; cut <= input.size(); ++cut) {
      ASSERT_EQ(Rewrite(input, {cut}), (Rewritten{Unmasked(before), c.failure})) << cut;
    }
  }
}

TEST(FrameRewriterTest, RefusesAMessageInsideAMessage) {
  const Frame open{.fin = false, .payload = "a"}, ping{.opcode = Opcode::kPing}, next{.payload = "b"};
  EXPECT_EQ(Rewrite(Masked(open) + Masked(ping) + Masked(next)),
            (Rewritten{Unmasked(open) + Unmasked(ping), "a message begins inside another"}));
}

TEST(FrameRewriterTest, TellsALongFrameFromABreach) {
  std::string frame(FrameRewriter::kHeadroomBytes, '#');
  frame += Masked({.payload = Payload(11)});
  FrameRewriter rewriter(10);
  EXPECT_EQ(rewriter.Rewrite(std::span(frame).subspan(FrameRewriter::kHeadroomBytes)), "");
  ASSERT_TRUE(rewriter.failure());
  EXPECT_EQ(rewriter.failure()->kind, ErrorKind::kLimit);
}

TEST(FrameRewriterTest, DiscardsWhatFollowsACloseFrame) {
  const Frame close{.opcode = Opcode::kClose, .payload = support::ClosePayload(1001)};
  EXPECT_EQ(Rewrite(Masked(close) + Masked({.payload = "late"}) + "\xff\xff garbage"),
            (Rewritten{Unmasked(close), ""}));
  const Frame empty{.opcode = Opcode::kClose};
  EXPECT_EQ(Rewrite(Masked(empty) + "garbage"), (Rewritten{Unmasked(empty), ""}));
}

TEST(FrameRewriterTest, KnowsWhereFramesEnd) {
  const std::string first = Masked({.payload = "1234"}),
                    close = Masked({.opcode = Opcode::kClose, .payload = "\x03\xe8"});
  const std::string input = first + close;
  FrameRewriter rewriter(kMaxFrameBytes);
  for (size_t i = 0; i < input.size(); ++i) {
    EXPECT_EQ(rewriter.between_frames(), i == 0 || i == first.size()) << i;
    EXPECT_FALSE(rewriter.closed()) << i;
    std::string piece(FrameRewriter::kHeadroomBytes + 1, input[i]);
    rewriter.Rewrite(std::span(piece).last(1));
  }
  EXPECT_TRUE(rewriter.between_frames());
  EXPECT_TRUE(rewriter.closed());
}

TEST(FrameCursorTest, KnowsWhereFramesEndAtEveryCut) {
  std::vector<size_t> ends;
  std::string input;
  for (const Frame& frame : kConversation) ends.push_back((input += Unmasked(frame)).size());
  for (size_t cut = 1; cut < input.size(); ++cut) {
    FrameCursor cursor;
    EXPECT_TRUE(cursor.between_frames());
    cursor.Advance(std::string_view(input).substr(0, cut));
    EXPECT_EQ(cursor.between_frames(), std::ranges::count(ends, cut) > 0) << cut;
    EXPECT_FALSE(cursor.closed()) << cut;
    cursor.Advance(std::string_view(input).substr(cut));
    EXPECT_TRUE(cursor.between_frames()) << cut;
    EXPECT_TRUE(cursor.closed()) << cut;
  }
}

TEST(FrameCursorTest, KnowsWhetherAWholeMessageHasPassed) {
  constexpr std::string_view kPing("\x89\0", 2), kFirst("\x01\x02he", 4), kHalfOfLast("\x80\x03", 2), kRest("llo");
  FrameCursor cursor;
  for (const std::string_view piece : {kPing, kFirst, kPing, kHalfOfLast, kRest.substr(0, 2)}) {
    cursor.Advance(piece);
    EXPECT_FALSE(cursor.has_passed_message());
  }
  cursor.Advance(kRest.substr(2));
  EXPECT_TRUE(cursor.has_passed_message());
  cursor.Advance(kPing);
  cursor.Advance(kFirst);
  EXPECT_TRUE(cursor.has_passed_message());
}

}  // namespace
}  // namespace holdfast::rendezvous
