#include "client/http.h"

#include <string>

#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using support::Base64;
using support::Message;

class HttpTest : public ClientTest {
 protected:
  void SetUp() override {
    server_.Handle("http/request", [this](const Message& request) {
      request_id_ = request.Text("params.requestId");
      return fmt::format(R"("result":{{"status":200,"headers":[{{"name":"a","value":"b"}}],"bodyBase64":"{}"}})",
                         request.Has("params.streamResponse") && request.Flag("params.streamResponse") ? "" : "aGk=");
    });
  }
  void SendDelta(int seq, std::string_view bytes, std::string_view end = R"("done":false,"error":null)") {
    server_.Send(fmt::format(
        R"({{"method":"http/request/bodyDelta","params":{{"requestId":"{}","seq":{},"deltaBase64":"{}",{}}}}})",
        request_id_, seq, Base64(bytes), end));
  }

  static loop::Task<Result<std::optional<std::string>>> LastPiece(HttpStream stream) {
    HttpStream released = std::move(stream);
    co_return co_await released.Next();
  }

  std::string request_id_;
};

TEST_F(HttpTest, ReturnsAResponse) {
  auto client = Connect();
  const auto response = Run(client.http().Request({.method = "POST", .url = "http://x/", .body = "data"}));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200U);
  EXPECT_EQ(response->headers.at(0).value, "b");
  EXPECT_EQ(response->body, "hi");
  EXPECT_EQ(server_.Got("http/request").at(0).Bytes("params.bodyBase64"), "data");
}

TEST_F(HttpTest, StreamsABody) {
  auto client = Connect();
  auto stream = Run(client.http().Stream({.url = "http://x/"}));
  ASSERT_TRUE(stream);
  SendDelta(1, "one");
  EXPECT_EQ(Run(stream->Next()).value(), "one");
  SendDelta(2, "two");
  SendDelta(3, "", R"("done":true,"error":null)");
  EXPECT_EQ(Run(stream->Next()).value(), "two");
  EXPECT_EQ(Run(stream->Next()).value(), std::nullopt);
}

TEST_F(HttpTest, ReportsABodyThatEndsEarly) {
  auto client = Connect();
  auto stream = Run(client.http().Stream({.url = "http://x/"}));
  SendDelta(1, "one");
  SendDelta(2, "", R"("done":true,"error":"reset")");
  EXPECT_EQ(Run(stream->Next()).value(), "one");
  EXPECT_EQ(Run(stream->Next()).error().message, "reset");
}

TEST_F(HttpTest, ReportsAMissingPiece) {
  auto client = Connect();
  auto stream = Run(client.http().Stream({.url = "http://x/"}));
  SendDelta(2, "two");
  EXPECT_EQ(Run(stream->Next()).error().kind, ErrorKind::kInternal);
}

TEST_F(HttpTest, AStreamDoesNotSurviveItsConnection) {
  auto client = Connect();
  auto stream = Run(client.http().Stream({.url = "http://x/"}));
  server_.Cut();
  EXPECT_EQ(Run(stream->Next()).error().kind, ErrorKind::kDisconnected);
}

// The task releases the stream at once, while the client knows that the connection has ended.
TEST_F(HttpTest, ATaskThatAwaitsTheBodyMayReleaseItsStreamWhenTheConnectionEnds) {
  auto client = Connect();
  const auto last = Begin(LastPiece(Run(client.http().Stream({.url = "http://x/"})).value()));
  server_.Cut();
  ASSERT_TRUE(last->has_value());
  EXPECT_EQ((*last)->error().kind, ErrorKind::kDisconnected);
}

TEST_F(HttpTest, StopsReadingWhileNobodyTakesTheBody) {
  auto client = Connect();
  auto stream = Run(client.http().Stream({.url = "http://x/"}));
  SendDelta(1, std::string(5 << 20, 'x'));
  EXPECT_EQ(server_.reading(), rpc::Reading::kOff);
  EXPECT_TRUE(Run(stream->Next()));
  EXPECT_EQ(server_.reading(), rpc::Reading::kOn);
}

}  // namespace
}  // namespace holdfast::client
