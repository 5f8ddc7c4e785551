// These tests check what a WebSocket peer may and may not send (RFC 6455).
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "support/web_socket_client.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using support::BuildFrame;
using support::ClosePayload;
using support::Frame;
using support::Received;
using support::WebSocketClient;
using Op = support::Opcode;
using Kind = Received::Kind;

constexpr std::string_view kGreek = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5";

Limits SmallLimits() {
  Limits limits;
  limits.max_frame_bytes = 1000;
  limits.max_message_bytes = 2500;
  return limits;
}

void SetNoDelay(WebSocketClient& client) {
  const int on = 1;
  ::setsockopt(client.socket().fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

class WebSocketProtocolTest : public ::testing::Test {
 protected:
  // Expects that the server ends the conversation with this code and closes the connection, and that its receiver is
  // told.
  void ExpectClose(uint16_t code) {
    EXPECT_EQ(client_.ReceiveCloseCode(), code);
    client_.SendClose(code);
    EXPECT_EQ(client_.Receive().kind, Kind::kEof);
    client_.socket().Close();
    EXPECT_TRUE(peer_.WaitForClosed());
  }

  TestServer server_{SmallLimits()};
  WebSocketClient client_ = WebSocketClient::Connect(server_.url());
  Peer& peer_ = server_.WaitForPeer();
};

TEST_F(WebSocketProtocolTest, DeliversTextAndBinaryMessages) {
  client_.SendText("{\"id\":1}");
  client_.SendBinary("{\"id\":2}");
  client_.SendText("");
  EXPECT_EQ(peer_.WaitForMessage(), "{\"id\":1}");
  EXPECT_EQ(peer_.WaitForMessage(), "{\"id\":2}");
  EXPECT_EQ(peer_.WaitForMessage(), "");
}

// TCP_NODELAY makes each Send a segment of its own, so the first half is on its way before the second is written.
TEST_F(WebSocketProtocolTest, DeliversAMessageCutAtEveryByte) {
  SetNoDelay(client_);
  const std::string payload = std::string(200, 'p') + std::string(kGreek);
  const std::string bytes = BuildFrame({.payload = payload});
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    client_.SendRaw(bytes.substr(0, cut));
    server_.Run([] {});  // waits for a turn of the loop
    client_.SendRaw(bytes.substr(cut));
    ASSERT_EQ(peer_.WaitForMessage(), payload) << "cut at " << cut;
  }
}

TEST_F(WebSocketProtocolTest, DeliversManyMessagesFromOneSegment) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += BuildFrame({.payload = std::to_string(i)});
  client_.SendRaw(bytes);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(peer_.WaitForMessage(), std::to_string(i));
}

TEST_F(WebSocketProtocolTest, DeliversAFragmentedMessageWholeAndAnswersPingsInside) {
  client_.SendFrame({.fin = false, .payload = "one "});
  client_.SendPing("first");
  client_.SendFrame({.fin = false, .opcode = Op::kContinuation, .payload = ""});
  client_.SendFrame({.fin = false, .opcode = Op::kContinuation, .payload = "two "});
  client_.SendPing("second");
  client_.SendFrame({.opcode = Op::kContinuation, .payload = "three"});
  for (const std::string_view payload : {"first", "second"}) {
    const Received pong = client_.Receive();
    EXPECT_EQ(pong.kind, Kind::kPong);
    EXPECT_EQ(pong.payload, payload);
  }
  EXPECT_EQ(peer_.WaitForMessage(), "one two three");
}

TEST_F(WebSocketProtocolTest, AnswersAPingWithTheSamePayload) {
  const std::string payload(125, '\xff');
  client_.SendPing(payload);
  const Received pong = client_.Receive();
  EXPECT_EQ(pong.kind, Kind::kPong);
  EXPECT_EQ(pong.payload, payload);
}

TEST_F(WebSocketProtocolTest, IgnoresAPongNobodyAskedFor) {
  client_.SendFrame({.opcode = Op::kPong, .payload = "?"});
  client_.SendText("still here");
  EXPECT_EQ(peer_.WaitForMessage(), "still here");
}

TEST_F(WebSocketProtocolTest, TakesCharactersSplitOverFragments) {
  for (size_t cut = 1; cut < kGreek.size(); ++cut) {
    client_.SendFrame({.fin = false, .payload = std::string(kGreek.substr(0, cut))});
    client_.SendFrame({.opcode = Op::kContinuation, .payload = std::string(kGreek.substr(cut))});
    ASSERT_EQ(peer_.WaitForMessage(), kGreek);
  }
}

TEST_F(WebSocketProtocolTest, RefusesInvalidUtf8) {
  client_.SendText("\xce\xba\xed\xa0\x80");
  ExpectClose(1007);
}

TEST_F(WebSocketProtocolTest, RefusesUtf8ThatBecomesInvalidInTheNextFragment) {
  client_.SendFrame({.fin = false, .payload = "\xf0\x9f"});
  client_.SendFrame({.opcode = Op::kContinuation, .payload = "\x41"});
  ExpectClose(1007);
}

TEST_F(WebSocketProtocolTest, RefusesUtf8ThatEndsInsideACharacter) {
  client_.SendText("a\xe2\x82");
  ExpectClose(1007);
}

TEST_F(WebSocketProtocolTest, RefusesACharacterLeftUnfinishedByAnEmptyLastFragment) {
  client_.SendFrame({.fin = false, .payload = "a\xe2\x82"});
  client_.SendFrame({.opcode = Op::kContinuation, .payload = ""});
  ExpectClose(1007);
  EXPECT_EQ(peer_.messages(), 0u);
}

TEST_F(WebSocketProtocolTest, TakesAnEmptyLastFragment) {
  client_.SendFrame({.fin = false, .payload = std::string(kGreek)});
  client_.SendFrame({.opcode = Op::kContinuation, .payload = ""});
  EXPECT_EQ(peer_.WaitForMessage(), kGreek);
}

TEST_F(WebSocketProtocolTest, TakesAnyBytesInABinaryMessage) {
  client_.SendBinary("\xff\xfe");
  EXPECT_EQ(peer_.WaitForMessage(), "\xff\xfe");
}

TEST_F(WebSocketProtocolTest, TakesAFrameOfTheLimitAndRefusesALongerOne) {
  client_.SendText(std::string(1000, 'x'));
  EXPECT_EQ(peer_.WaitForMessage().size(), 1000u);
  client_.SendText(std::string(1001, 'x'));
  ExpectClose(1009);
}

TEST_F(WebSocketProtocolTest, LimitsEachFrameOfAFragmentedMessage) {
  client_.SendFrame({.fin = false, .payload = std::string(100, 'x')});
  client_.SendFrame({.opcode = Op::kContinuation, .payload = std::string(1001, 'x')});
  ExpectClose(1009);
}

TEST_F(WebSocketProtocolTest, LimitsTheWholeMessage) {
  const std::string half_frame(500, 'x');
  for (int i = 0; i < 5; ++i) {
    client_.SendFrame({.fin = i == 4, .opcode = i == 0 ? Op::kText : Op::kContinuation, .payload = half_frame});
  }
  EXPECT_EQ(peer_.WaitForMessage().size(), 2500u);
  for (int i = 0; i < 6; ++i) {
    client_.SendFrame({.fin = false, .opcode = i == 0 ? Op::kText : Op::kContinuation, .payload = half_frame});
  }
  ExpectClose(1009);
}

TEST_F(WebSocketProtocolTest, RefusesAnAnnouncedLengthWithoutWaitingForIt) {
  client_.SendRaw(
      std::string("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff"
                  "mask",
                  14));
  ExpectClose(1009);
}

TEST_F(WebSocketProtocolTest, AnswersACloseWithItsCode) {
  client_.SendClose(1001, "leaving");
  ExpectClose(1001);
}

TEST_F(WebSocketProtocolTest, AnswersACloseWithoutACode) {
  client_.SendFrame({.opcode = Op::kClose});
  ExpectClose(1000);
}

TEST_F(WebSocketProtocolTest, DeliversWhatCameBeforeTheClose) {
  client_.SendRaw(BuildFrame({.payload = "last words"}) +
                  BuildFrame({.opcode = Op::kClose, .payload = ClosePayload(1000)}) +
                  BuildFrame({.payload = "too late"}));
  EXPECT_EQ(peer_.WaitForMessage(), "last words");
  ExpectClose(1000);
  EXPECT_EQ(peer_.messages(), 0u);
}

TEST_F(WebSocketProtocolTest, NoticesAPeerThatVanishes) {
  client_.socket().Close();
  EXPECT_TRUE(peer_.WaitForClosed());
}

struct Breach {
  const char* name;
  std::string bytes;
};

class WebSocketBreachTest : public WebSocketProtocolTest, public ::testing::WithParamInterface<Breach> {};

TEST_P(WebSocketBreachTest, EndsWith1002) {
  client_.SendRaw(GetParam().bytes);
  ExpectClose(1002);
  EXPECT_EQ(peer_.messages(), 0u);
}

std::string Build(Frame frame) { return BuildFrame(frame); }

INSTANTIATE_TEST_SUITE_P(
    Frames, WebSocketBreachTest,
    ::testing::Values(
        Breach{"ReservedBit1", Build({.rsv = 4, .payload = "x"})},
        Breach{"ReservedBit2", Build({.rsv = 2, .payload = "x"})},
        Breach{"ReservedBit3", Build({.rsv = 1, .payload = "x"})},
        Breach{"ReservedBitOnPing", Build({.rsv = 4, .opcode = Op::kPing})},
        Breach{"UnknownDataOpcode", Build({.opcode = static_cast<Op>(3)})},
        Breach{"UnknownControlOpcode", Build({.opcode = static_cast<Op>(0xb)})},
        Breach{"UnmaskedFrame", Build({.masked = false, .payload = "x"})},
        Breach{"UnmaskedPing", Build({.opcode = Op::kPing, .masked = false})},
        Breach{"FragmentedPing", Build({.fin = false, .opcode = Op::kPing})},
        Breach{"LongPing", Build({.opcode = Op::kPing, .payload = std::string(126, 'x')})},
        Breach{"LongClose", Build({.opcode = Op::kClose, .payload = ClosePayload(1000, std::string(124, 'x'))})},
        Breach{"ContinuationWithoutStart", Build({.opcode = Op::kContinuation, .payload = "x"})},
        Breach{"NewMessageInsideFragments", Build({.fin = false, .payload = "x"}) + Build({.payload = "y"})},
        Breach{"WastefulLength16", std::string("\x81\xfe\x00\x05"
                                               "mask"
                                               "12345",
                                               13)},
        Breach{"WastefulLength64", std::string("\x81\xff\x00\x00\x00\x00\x00\x00\x00\x05"
                                               "mask"
                                               "12345",
                                               19)},
        Breach{"CloseWithHalfACode", Build({.opcode = Op::kClose, .payload = "\x03"})},
        Breach{"CloseWithCode999", Build({.opcode = Op::kClose, .payload = ClosePayload(999)})},
        Breach{"CloseWithCode1005", Build({.opcode = Op::kClose, .payload = ClosePayload(1005)})},
        Breach{"CloseWithCode1006", Build({.opcode = Op::kClose, .payload = ClosePayload(1006)})},
        Breach{"CloseWithCode1016", Build({.opcode = Op::kClose, .payload = ClosePayload(1016)})},
        Breach{"CloseWithBadUtf8", Build({.opcode = Op::kClose, .payload = ClosePayload(1000, "\xff")})}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace holdfast::transport
