#include "escalate/messages/messages.h"

#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

ExecRequest Plain() {
  return {.file = "/bin/echo",
          .argv = {"argv0", "hello", "-x", "--", "y"},
          .workdir = "/usr/lib",
          .environment = {"FOO=bar", "EMPTY=", "EQUALS=a=b"}};
}

TEST(ExecRequestTest, IsWrittenAsPublishedServersReadIt) {
  EXPECT_EQ(Encode(Plain()), R"({"file":"/bin/echo","argv":["argv0","hello","-x","--","y"],"workdir":"/usr/lib",)"
                             R"("env":{"FOO":"bar","EMPTY":"","EQUALS":"a=b"}})");
}

TEST(ExecRequestTest, IsReadAsPublishedWrappersWriteIt) {
  const auto request = DecodeRequest(
      R"({"file":"./run","argv":["run"],"workdir":"/w","env":{"PATH":"/usr/bin:/bin","EXEC_WRAPPER":"y"},"more":1})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(
      *request,
      (ExecRequest{
          .file = "./run", .argv = {"run"}, .workdir = "/w", .environment = {"PATH=/usr/bin:/bin", "EXEC_WRAPPER=y"}}));
}

TEST(ExecRequestTest, CarriesEveryByteThatTheKernelCarries) {
  ExecRequest request = Plain();
  const auto survives = [&] { return DecodeRequest(Encode(request)) == request; };
  EXPECT_TRUE(survives());
  request.file = "/tmp/\xff";
  EXPECT_TRUE(survives());
  request.argv.push_back("\xc3");
  EXPECT_TRUE(survives());
  request.workdir = "/\x80";
  EXPECT_TRUE(survives());
  request.environment.push_back("BYTES=\xfe");
  EXPECT_TRUE(survives());
  request.argv.clear();
  EXPECT_TRUE(survives());
}

TEST(ExecRequestTest, CarriesVariablesThatAnObjectCannot) {
  for (const std::string odd : {"NO_VALUE", "FOO=again", "", "=x"}) {
    ExecRequest request = Plain();
    request.environment.push_back(odd);
    EXPECT_EQ(DecodeRequest(Encode(request)), request) << odd;
  }
}

// A server without base64 must refuse such a request, because the text would be another command.
TEST(ExecRequestTest, LeavesOutTextThatWouldMeanSomethingElse) {
  ExecRequest request = Plain();
  request.argv = {"rm", "\xff"};
  const std::string text = Encode(request);
  EXPECT_FALSE(text.contains(R"("argv")"));
  EXPECT_TRUE(text.contains(R"("argvBase64":["cm0=","/w=="])"));
}

TEST(ExecRequestTest, RefusesWhatIsNoRequest) {
  const auto refusal = [](std::string_view text) {
    const auto request = DecodeRequest(text);
    return request ? "accepted" : request.error().message;
  };
  EXPECT_EQ(refusal(""), "not JSON at byte 0: incomplete JSON");
  EXPECT_EQ(refusal("[]"), "request: expected an object, got an array");
  EXPECT_EQ(refusal(R"({"argv":[],"workdir":"/","env":{}})"), "file: is missing");
  EXPECT_EQ(refusal(R"({"file":"/x","workdir":"/","env":{}})"), "argv: is missing");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[],"env":{}})"), "workdir: is missing");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[],"workdir":"/"})"), "env: is missing");
  EXPECT_EQ(refusal(R"({"file":"/x","fileBase64":"L3g=","argv":[],"workdir":"/","env":{}})"), "file: comes twice");
  EXPECT_EQ(refusal(R"({"file":"","argv":[],"workdir":"/","env":{}})"), "file: is empty");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[],"workdir":"w","env":{}})"), "workdir: is not absolute");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":["a\u0000b"],"workdir":"/","env":{}})"), "a string contains a NUL");
  EXPECT_EQ(refusal(R"({"file":"/x","argvBase64":["AGE="],"workdir":"/","env":{}})"), "a string contains a NUL");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[],"workdir":"/","env":{"A=B":"c"}})"),
            "env: a name contains an equals sign");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[1],"workdir":"/","env":{}})"), "argv.0: expected a string, got a number");
  EXPECT_EQ(refusal(R"({"file":"/x","argv":[],"workdir":"/","env":{"A":"1","A":"2"}})"), "an object key appears twice");
}

}  // namespace
}  // namespace holdfast::escalate
