// These tests send the params and the result of every method through the Encoder and the Decoder, with every field set.
#include "wire/methods.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/method_lists.h"

namespace holdfast::wire {
namespace {

// A Filler gives every field that a struct lists a value that is not its default.
class Filler {
 public:
  void Required(const char*, auto& value) { Fill(value); }
  void Optional(const char*, auto& value) { Fill(value); }
  void Nullable(const char*, auto& value) { Fill(value); }

  void Fill(std::string& value) { value = "text " + std::to_string(++count_); }
  void Fill(std::string_view& value) { value = "YmFzZTY0"; }
  void Fill(bool& value) { value = !value; }
  void Fill(std::unsigned_integral auto& value) { value = static_cast<std::decay_t<decltype(value)>>(++count_); }
  void Fill(std::signed_integral auto& value) { value = -++count_; }
  void Fill(Bytes& value) { value = Bytes::Owned("bytes " + std::to_string(++count_)); }
  void Fill(Given& value) { value.given = true; }
  void Fill(StringMap& value) { value = {{"B", "b"}, {"A", "a\n"}}; }
  void Fill(TerminateMode& value) { value.graceful_timeout_ms = ++count_; }
  void Fill(ProcessIo& value) { Fill(value.pipe); }  // a process has one kind of io
  void Fill(std::optional<Sandbox>&) {}              // SandboxTest
  template <typename T>
  void Fill(std::optional<T>& value) {
    Fill(value.emplace());
  }
  template <typename T>
  void Fill(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) Fill(value);
  }
  template <NamedEnum T>
  void Fill(T& value) {
    value = EnumNames<T>::kNames.back().second;
  }
  template <Encodable T>
  void Fill(T& value) {
    value.Fields(*this);
  }

 private:
  int count_ = 0;
};

template <typename T>
void ExpectSameAfterARoundTrip() {
  T sent;
  Filler().Fill(sent);
  const std::string text = Encode(sent);
  Document document;
  const auto json = document.Parse(text);
  ASSERT_TRUE(json) << text;
  const auto received = Decode<T>(*json);
  ASSERT_TRUE(received) << text << ": " << received.error().message;
  EXPECT_EQ(Encode(*received), text);
}

template <typename Type>
class MethodsTest : public testing::Test {};

// The server lists what is below its handshake.
template <typename... Types>
using WithHandshake = testing::Types<Initialize, Types..., ExecApprove>;
using EveryMethod = SessionMethods::As<WithHandshake>;
TYPED_TEST_SUITE(MethodsTest, EveryMethod);

TYPED_TEST(MethodsTest, SendsItsParamsBothWays) { ExpectSameAfterARoundTrip<typename TypeParam::Params>(); }
TYPED_TEST(MethodsTest, SendsItsResultBothWays) { ExpectSameAfterARoundTrip<typename TypeParam::Result>(); }

template <typename Type>
class NotificationsTest : public testing::Test {};

template <typename... Types>
using WithInitialized = testing::Types<Initialized, Types...>;
using EveryNotification = ServerNotifications::As<WithInitialized>;
TYPED_TEST_SUITE(NotificationsTest, EveryNotification);

TYPED_TEST(NotificationsTest, SendsItsParamsBothWays) { ExpectSameAfterARoundTrip<typename TypeParam::Params>(); }

TEST(ProcessStartTest, SendsNoCommandBesideAPreparedOne) {
  ProcessStartParams params;
  params.process_id = "p";
  params.prepared.emplace().program = "/t";
  EXPECT_EQ(Encode(params), R"({"processId":"p","prepared":{"program":"/t","argv":[],"env":{},"cwd":""},"tty":false,)"
                            R"("pipeStdin":false,"enforceManagedNetwork":false})");
}

TEST(SandboxTest, IsSentOnOneLine) {
  Sandboxed<FsPathParams> params;
  params.path = "/f";
  EXPECT_EQ(Encode(params), R"({"path":"/f"})");
  const auto sandbox = Sandbox::FromJson("{\"sandboxPolicy\":\n{\"type\":\"read-only\"}}\n");
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  params.sandbox = *sandbox;
  EXPECT_EQ(Encode(params), R"({"path":"/f","sandbox":{"sandboxPolicy":{"type":"read-only"}}})");
}

TEST(SandboxTest, IsAnObject) {
  for (const char* text : {"null", "[]", "true", "{", R"({},"path":"/g")"}) {
    const auto sandbox = Sandbox::FromJson(text);
    ASSERT_FALSE(sandbox) << text;
    EXPECT_EQ(sandbox.error().kind, ErrorKind::kInvalidParams) << text;
  }
}

TEST(SandboxTest, DiesIfItWouldBeSentWithoutItsText) {
  Sandboxed<FsPathParams> params;
  params.sandbox.emplace();
  EXPECT_DEATH(Encode(params), "empty");
}

TEST(ProcessTerminateTest, SendsItsModes) {
  EXPECT_EQ(Encode(ProcessTerminateParams{"p", {}}), R"({"processId":"p"})");
  EXPECT_EQ(Encode(ProcessTerminateParams{"p", TerminateMode{}}), R"({"processId":"p","mode":"force"})");
  EXPECT_EQ(Encode(ProcessTerminateParams{"p", TerminateMode{7}}),
            R"({"processId":"p","mode":{"graceful":{"timeoutMs":7}}})");
}

template <typename T>
T Received(std::string_view text) {
  Document document;
  auto message = Decode<T>(document.Parse(text).value());
  EXPECT_TRUE(message) << text << ": " << message.error().message;
  return std::move(message).value_or(T{});
}

// The results of the published servers have fewer members.
TEST(OlderServersTest, AreUnderstood) {
  EXPECT_FALSE(Received<InitializeResult>(R"({"sessionId":"s"})").environment_info);
  EXPECT_EQ(Received<EnvironmentInfo>(R"({"shell":{"name":"sh","path":"/bin/sh"}})").shell.path, "/bin/sh");
  EXPECT_EQ(Received<ProcessStartResult>(R"({"processId":"p"})").sandbox_type, SandboxType::kNone);
  EXPECT_FALSE(Received<ProcessExitedParams>(R"({"processId":"p","seq":1,"exitCode":2})").sandbox_denied);
  EXPECT_EQ(Received<ProcessReadResult>(
                R"({"chunks":[],"nextSeq":4,"exited":true,"exitCode":3,"closed":false,"failure":null})")
                .exit_code,
            3);
  EXPECT_TRUE(Received<FsGetMetadataResult>(
                  R"({"isDirectory":true,"isFile":false,"isSymlink":false,"createdAtMs":0,"modifiedAtMs":5})")
                  .is_directory);
}

TEST(BytesTest, OwnsWhatWasDecodedAndOnlyViewsTheRest) {
  OutputChunk chunk = Received<OutputChunk>(R"({"seq":1,"stream":"pty","chunk":"aGk="})");
  const OutputChunk copy = chunk;
  EXPECT_EQ(copy.chunk.view(), "hi");
  EXPECT_EQ(std::move(chunk.chunk).Take(), "hi");
  const std::string text = "text";
  EXPECT_EQ(Bytes(text).view().data(), text.data());
}

TEST(BytesTest, RefuseTextThatIsNotBase64) {
  Document document;
  const auto message = Decode<FsReadFileResult>(document.Parse(R"({"dataBase64":"aGk"})").value());
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().message, "dataBase64: is not base64");
}

}  // namespace
}  // namespace holdfast::wire
