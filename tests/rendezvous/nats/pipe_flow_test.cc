// The numbers and windows of a pipe over NATS, without any I/O.
#include "rendezvous/nats/pipe_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

using Kind = PipeMessage::Kind;

constexpr size_t kWindow = 16u << 10;

TEST(PipeMessageTest, SurvivesTheWayOutAndBack) {
  for (const PipeMessage& message :
       {PipeMessage{.kind = Kind::kData, .number = 0x0102030405060708, .bytes = "bytes"},
        PipeMessage{.kind = Kind::kConsumed, .number = 1, .consumed = UINT64_MAX},
        PipeMessage{.kind = Kind::kEnd, .number = UINT64_MAX}, PipeMessage{.kind = Kind::kAlive, .number = 0}}) {
    const std::string text = EncodePipeMessage(message);
    EXPECT_EQ(DecodePipeMessage(text), message);
  }
}

TEST(PipeMessageTest, HasTheKindAndTheNumberFirst) {
  EXPECT_EQ(EncodePipeMessage({.kind = Kind::kData, .number = 0x0102, .bytes = "ab"}),
            std::string_view("\x01\0\0\0\0\0\0\x01\x02"
                             "ab",
                             11));
}

TEST(PipeMessageTest, NothingElseIsAccepted) {
  const std::string number(8, '\0');
  const std::string most(kMaxPipeData, 'x');
  EXPECT_TRUE(DecodePipeMessage("\x01" + number + most));
  for (const std::string& text :
       {std::string(), std::string("\x04"), "\x04" + number.substr(1), "\x04" + number + "x", "\x03" + number + "x",
        "\x01" + number, "\x01" + number + most + "x", "\x02" + number, "\x02" + number + "1234567",
        "\x02" + number + "123456789", "\x05" + number, std::string(1, '\0') + number, "\xff" + number}) {
    EXPECT_FALSE(DecodePipeMessage(text)) << testing::PrintToString(text.substr(0, 20));
  }
}

TEST(PipeFlowTest, AcceptsTheMessagesOfTheOtherEndInTheirOrder) {
  PipeFlow sender(kWindow), receiver(kWindow);
  const std::string first = sender.Alive(), second = sender.Data("bytes"), third = sender.End();
  EXPECT_EQ(receiver.Receive(first)->kind, Kind::kAlive);
  EXPECT_EQ(receiver.Receive(second)->bytes, "bytes");
  EXPECT_EQ(receiver.Receive(third)->kind, Kind::kEnd);
}

TEST(PipeFlowTest, RefusesAMessageThatIsLostOrRepeated) {
  PipeFlow sender(kWindow), receiver(kWindow);
  const std::string first = sender.Alive(), second = sender.Alive();
  EXPECT_FALSE(receiver.Receive(second));
  EXPECT_TRUE(receiver.Receive(first));
  EXPECT_FALSE(receiver.Receive(first));
  EXPECT_TRUE(receiver.Receive(second));
}

TEST(PipeFlowTest, TheWindowBoundsWhatIsSentAndReturnsWithWhatIsConsumed) {
  PipeFlow sender(kWindow), receiver(kWindow);
  size_t sent = 0;
  std::vector<size_t> sizes;
  while (sender.sendable() > 0) {
    sizes.push_back(std::min<size_t>(sender.sendable(), 1000));
    const std::string text = sender.Data(std::string(sizes.back(), 'x'));
    ASSERT_TRUE(receiver.Receive(text));
    sent += sizes.back() + kMessageCost;
  }
  EXPECT_LE(sent, kWindow);
  EXPECT_GT(sent, kWindow - 2 * kMessageCost);
  size_t credits = 0;
  for (const size_t size : sizes) {
    const auto credit = receiver.Consume(size);
    if (!credit) continue;
    ++credits;
    EXPECT_TRUE(sender.Receive(*credit));
  }
  EXPECT_GE(credits, 3u);
  EXPECT_LE(credits, 4u);
  EXPECT_GT(sender.sendable(), kWindow / 2);
}

TEST(PipeFlowTest, SingleBytesUseTheWindowUpToo) {
  PipeFlow sender(kWindow);
  size_t messages = 0;
  while (sender.sendable() > 0) sender.Data("x"), ++messages;
  EXPECT_LE(messages, kWindow / kMessageCost);
}

TEST(PipeFlowTest, RefusesDataBeyondTheWindow) {
  PipeFlow sender(2 * kWindow), receiver(kWindow);
  Result<PipeMessage> received;
  for (int i = 0; i < 20 && received; ++i) received = receiver.Receive(sender.Data(std::string(1000, 'x')));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().kind, ErrorKind::kLimit);
}

TEST(PipeFlowTest, RefusesCreditForWhatWasNotSent) {
  PipeFlow flow(kWindow);
  flow.Data("x");
  const uint64_t cost = 1 + kMessageCost;
  EXPECT_FALSE(flow.Receive(EncodePipeMessage({.kind = Kind::kConsumed, .number = 0, .consumed = cost + 1})));
  EXPECT_FALSE(flow.Receive(EncodePipeMessage({.kind = Kind::kConsumed, .number = 0, .consumed = UINT64_MAX})));
  EXPECT_TRUE(flow.Receive(EncodePipeMessage({.kind = Kind::kConsumed, .number = 0, .consumed = cost})));
}

}  // namespace
}  // namespace holdfast::rendezvous
