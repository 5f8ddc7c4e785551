#include "transport/frame_mask.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

constexpr FrameMask kMask{'\x01', '\x20', '\x7f', '\xff'};

std::string MaskedByteByByte(std::string payload) {
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ kMask[i % 4]);
  return payload;
}

TEST(FrameMaskTest, MasksEveryLengthAsTheStandardSays) {
  for (size_t size = 0; size < 100; ++size) {
    std::string payload;
    for (size_t i = 0; i < size; ++i) payload.push_back(static_cast<char>(i * 7));
    const std::string expected = MaskedByteByByte(payload);
    ApplyMask(payload, kMask);
    ASSERT_EQ(payload, expected) << size;
  }
}

TEST(FrameMaskTest, IsRemovedByApplyingItAgain) {
  std::string payload = "a payload that is longer than one word";
  const std::string original = payload;
  ApplyMask(payload, kMask);
  EXPECT_NE(payload, original);
  ApplyMask(payload, kMask);
  EXPECT_EQ(payload, original);
}

TEST(FrameMaskTest, ContinuesAtEveryCutOfAPayload) {
  const std::string original = "a payload that is cut into two pieces";
  for (size_t cut = 0; cut <= original.size(); ++cut) {
    std::string payload = original;
    ApplyMask(std::span(payload).first(cut), kMask);
    ApplyMask(std::span(payload).subspan(cut), RotatedMask(kMask, cut));
    EXPECT_EQ(payload, MaskedByteByByte(original)) << cut;
  }
}

// Among a thousand masks of 32 random bits, more than a few equal ones do not happen.
TEST(FrameMaskTest, IsAnotherOneForEachFrame) {
  FrameMasks masks;
  std::set<FrameMask> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(masks.Next());
  EXPECT_GT(seen.size(), 995u);
}

}  // namespace
}  // namespace holdfast::transport
