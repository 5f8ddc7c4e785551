#include "wire/notification.h"

#include <gtest/gtest.h>

namespace holdfast::wire {
namespace {

// These structs make the same messages with the plain Encoder.
struct PlainOutput {
  std::string process_id;
  uint64_t seq = 0;
  Stream stream = Stream::kStdout;
  Bytes chunk;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("seq", seq);
    f.Required("stream", stream);
    f.Required("chunk", chunk);
  }
};

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
      const PlainOutput plain{"id \"\n\xc3\xa9", 7u + static_cast<uint64_t>(i), stream, {bytes}};
      ASSERT_EQ(OutputNotification(Quoted(plain.process_id), plain.seq, stream, bytes),
                Encode(Envelope<PlainOutput>{"process/output", plain}));
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

}  // namespace
}  // namespace holdfast::wire
