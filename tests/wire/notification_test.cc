#include "wire/notification.h"

#include <random>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "wire/methods.h"

namespace holdfast::wire {
namespace {

// This struct makes the same messages with the plain Encoder.
template <typename T>
struct Envelope {
  std::string method;
  T params;

  void Fields(auto& f) {
    f.Required("method", method);
    f.Required("params", params);
  }
};

std::string Quoted(std::string_view id) {
  std::string quoted;
  AppendString(quoted, id);
  return quoted;
}

TEST(OutputNotificationTest, EqualsThePlainEncoder) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    for (const Stream stream : {Stream::kStdout, Stream::kStderr, Stream::kPty}) {
      const ProcessOutputParams plain{"id \"\n\xc3\xa9", 7u + static_cast<uint64_t>(i), stream, {bytes}};
      ASSERT_EQ(OutputNotification(Quoted(plain.process_id), plain.seq, stream, bytes),
                Encode(Envelope<ProcessOutputParams>{"process/output", plain}));
    }
    bytes += static_cast<char>(i * 7);
  }
}

TEST(NotificationTest, CarriesWhatTheProtocolAsksFor) {
  EXPECT_EQ(ExitedNotification(R"("p")", {.seq = 3, .exit_code = 137}),
            R"({"method":"process/exited","params":{"processId":"p","seq":3,"exitCode":137,"sandboxDenied":false}})");
  EXPECT_EQ(ClosedNotification(R"("p")", UINT64_MAX),
            R"({"method":"process/closed","params":{"processId":"p","seq":18446744073709551615}})");
  EXPECT_EQ(StartedNotification(R"("p")", 42), R"({"method":"process/started","params":{"processId":"p","pid":42}})");
  EXPECT_EQ(FailedNotification(R"("p")", "no \"x\""),
            R"({"method":"process/failed","params":{"processId":"p","message":"no \"x\""}})");
}

TEST(NotificationTest, EqualsThePlainEncoder) {
  EXPECT_EQ(ExitedNotification(R"("p")", {.seq = 3, .exit_code = -1, .sandbox_denied = true}),
            Encode(Envelope<ProcessExitedParams>{ProcessExited::kName, {"p", 3, -1, true}}));
  EXPECT_EQ(ExitedNotification(R"("p")", {.seq = 3, .exit_code = 143, .end = ProcessEnd{EndCause::kServerStopped}}),
            Encode(Envelope<ProcessExitedParams>{ProcessExited::kName,
                                                 {"p", 3, 143, false, ProcessEnd{EndCause::kServerStopped}}}));
  EXPECT_EQ(ClosedNotification(R"("p")", 4), Encode(Envelope<ProcessClosedParams>{ProcessClosed::kName, {"p", 4}}));
  EXPECT_EQ(StartedNotification(R"("p")", 5), Encode(Envelope<ProcessStartedParams>{ProcessStarted::kName, {"p", 5}}));
  EXPECT_EQ(FailedNotification(R"("p")", "no"),
            Encode(Envelope<ProcessFailedParams>{ProcessFailed::kName, {"p", "no"}}));
  EXPECT_EQ(MissingChangedNotification(6), Encode(Envelope<FsMissingChangedParams>{FsMissingChanged::kName, {6}}));
  EXPECT_EQ(BodyDeltaNotification("r", 7, "bytes", BodyPart::kMore, std::nullopt),
            Encode(Envelope<HttpBodyDeltaParams>{HttpBodyDelta::kName, {"r", 7, {"bytes"}, false, {}}}));
  EXPECT_EQ(BodyDeltaNotification("r", 8, "", BodyPart::kLast, "cut"),
            Encode(Envelope<HttpBodyDeltaParams>{HttpBodyDelta::kName, {"r", 8, {}, true, "cut"}}));
}

TEST(NotificationTest, IsEncodedByItsType) {
  EXPECT_EQ(EncodeNotification<ProcessOutputLost>({"p \"1\"", 3, 9}),
            R"({"method":"process/outputLost","params":{"processId":"p \"1\"","fromSeq":3,"toSeq":9}})");
  EXPECT_EQ(EncodeNotification<SessionRoleChanged>({"s", SessionRole::kObserver}),
            R"({"method":"session/roleChanged","params":{"sessionId":"s","role":"observer"}})");
  EXPECT_EQ(EncodeNotification<SessionEnded>({"s"}), R"({"method":"session/ended","params":{"sessionId":"s"}})");
}

// Reads a message with the JSON parser.
std::optional<ProcessOutputParams> ReadPlainly(std::string_view message) {
  Document document;
  const auto json = document.Parse(message);
  if (!json || json->Find("method").string() != "process/output") return std::nullopt;
  auto params = Decode<ProcessOutputParams>(json->Find("params"));
  return params ? std::optional(*std::move(params)) : std::nullopt;
}

// A frame with base64 that can be decoded must be what the parser reads; a frame with other text must be a message
// that the decoder refuses.
void ExpectWhatTheParserReads(std::string_view message) {
  const auto frame = ReadOutputFrame(message);
  if (!frame) return;
  const auto plain = ReadPlainly(message);
  const auto chunk = Base64Decode(frame->chunk);
  ASSERT_EQ(chunk.has_value(), plain.has_value()) << message;
  if (!plain) return;
  EXPECT_EQ(frame->process_id, plain->process_id) << message;
  EXPECT_EQ(frame->seq, plain->seq) << message;
  EXPECT_EQ(frame->stream, plain->stream) << message;
  EXPECT_EQ(*chunk, plain->chunk.view()) << message;
}

TEST(ReadOutputFrameTest, ReadsWhatTheServerWrites) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    for (const Stream stream : {Stream::kStdout, Stream::kStderr, Stream::kPty}) {
      const std::string message = OutputNotification(R"("p 1")", UINT64_MAX - bytes.size(), stream, bytes);
      const auto frame = ReadOutputFrame(message);
      ASSERT_TRUE(frame) << message;
      EXPECT_EQ(frame->process_id, "p 1");
      EXPECT_EQ(frame->seq, UINT64_MAX - bytes.size());
      EXPECT_EQ(frame->stream, stream);
      EXPECT_EQ(Base64Decode(frame->chunk).value(), bytes);
    }
    bytes += static_cast<char>(i * 7);
  }
}

TEST(ReadOutputFrameTest, LeavesOtherMessagesToTheParser) {
  const std::string message = OutputNotification(R"("p")", 10, Stream::kPty, "hi");
  ASSERT_TRUE(ReadOutputFrame(message));
  EXPECT_FALSE(ReadOutputFrame(OutputNotification(Quoted("a\nb"), 1, Stream::kPty, "hi")));
  EXPECT_FALSE(ReadOutputFrame(OutputNotification(Quoted("\xc3\xa9"), 1, Stream::kPty, "hi")));
  EXPECT_FALSE(ReadOutputFrame(ClosedNotification(R"("p")", 1)));
  EXPECT_FALSE(ReadOutputFrame(" " + message));
  EXPECT_FALSE(ReadOutputFrame(message + " "));
  auto changed = [&](std::string_view part, std::string_view other) {
    std::string text = message;
    return text.replace(text.find(part), part.size(), other);
  };
  for (const char* seq : {":010", ":00", ":", ":-1", ":1.0", ":1e1", ":18446744073709551616", ": 10"}) {
    EXPECT_FALSE(ReadOutputFrame(changed(":10", seq))) << seq;
  }
  EXPECT_FALSE(ReadOutputFrame(changed("pty", "tty")));
  EXPECT_FALSE(ReadOutputFrame(changed("aGk=", R"(\u0061Gk=)")));
  EXPECT_FALSE(ReadOutputFrame(changed("aGk=", R"(aGk=","more":")")));
  EXPECT_FALSE(ReadOutputFrame(changed("aGk=", R"(aGk="},"more":{"a":")")));
}

TEST(ReadOutputFrameTest, AgreesWithTheParserOnEveryTruncationAndMutation) {
  const std::string message = OutputNotification(R"("p")", 10, Stream::kPty, "some bytes");
  for (size_t length = 0; length < message.size(); ++length) {
    EXPECT_FALSE(ReadOutputFrame(std::string_view(message).substr(0, length))) << length;
  }
  for (size_t at = 0; at < message.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string mutated = message;
      mutated[at] = static_cast<char>(byte);
      ExpectWhatTheParserReads(mutated);
    }
  }
}

TEST(ReadOutputFrameTest, AgreesWithTheParserOnRandomSplices) {
  const std::string message = OutputNotification(R"("p")", 10, Stream::kStdout, "some bytes");
  std::minstd_rand random(1);  // NOLINT(cert-msc51-cpp): the test is the same in every run
  auto below = [&](size_t bound) { return static_cast<size_t>(random()) % bound; };
  for (int i = 0; i < 20'000; ++i) {
    std::string spliced = message;
    const size_t from = below(message.size()), to = below(message.size()), length = below(12);
    spliced.replace(to, below(12), message, from, length);
    ExpectWhatTheParserReads(spliced);
  }
}

}  // namespace
}  // namespace holdfast::wire
