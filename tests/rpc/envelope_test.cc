#include "rpc/envelope.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::rpc {
namespace {

class EnvelopeTest : public testing::Test {
 protected:
  Incoming Parse(std::string_view text) {
    auto incoming = ParseEnvelope(document_, text);
    EXPECT_TRUE(incoming) << text << ": " << incoming.error().message;
    return incoming ? *incoming : Incoming(Notification{});
  }

  void ExpectRefused(std::string_view text) {
    auto incoming = ParseEnvelope(document_, text);
    ASSERT_FALSE(incoming) << text;
    EXPECT_EQ(incoming.error().kind, ErrorKind::kInvalidRequest) << text;
  }

  wire::Document document_;
};

TEST_F(EnvelopeTest, TakesAMethodWithAnIdForARequest) {
  const Incoming incoming = Parse(R"({"id":7,"method":"a/b","params":{"x":1}})");
  const Request& request = std::get<Request>(incoming);
  EXPECT_EQ(request.id, RequestId(int64_t{7}));
  EXPECT_EQ(request.method, "a/b");
  EXPECT_EQ(request.params.Find("x").int64(), 1);
}

TEST_F(EnvelopeTest, TakesAMethodAloneForANotification) {
  const Incoming incoming = Parse(R"({"method":"a/b"})");
  EXPECT_EQ(std::get<Notification>(incoming).method, "a/b");
  EXPECT_TRUE(std::get<Notification>(incoming).params.is_absent());
}

TEST_F(EnvelopeTest, KeepsTheTypeOfAnId) {
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":"1","method":"m"})")).id, RequestId("1"));
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":1,"method":"m"})")).id, RequestId(int64_t{1}));
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":-9223372036854775808,"method":"m"})")).id, RequestId(INT64_MIN));
}

TEST_F(EnvelopeTest, RefusesEveryOtherId) {
  for (const char* id : {"null", "1.5", "1e2", "true", "[1]", "{}", "9223372036854775808", "18446744073709551615"}) {
    ExpectRefused(std::string(R"({"method":"m","id":)") + id + "}");
  }
}

TEST_F(EnvelopeTest, RefusesWhatIsNoMessage) {
  for (const char* text :
       {"", " ", "null", "[]", R"([{"id":1,"method":"m"}])", "{}", R"({"id":1})", R"({"method":null})",
        R"({"method":5})", R"({"id":1,"result":{}})", R"({"id":1,"error":{}})", R"({"method":"m"} x)"}) {
    ExpectRefused(text);
  }
}

TEST(BeginResultTest, WritesTheId) {
  EXPECT_EQ(BeginResult(int64_t{-5}) + "{}}", R"({"id":-5,"result":{}})");
  EXPECT_EQ(BeginResult("a\"b") + "{}}", R"({"id":"a\"b","result":{}})");
}

TEST(ErrorMessageTest, WritesCodeTextAndId) {
  EXPECT_EQ(ErrorMessage("x", {ErrorKind::kNotFound, "open \"f\": \xff"}),
            "{\"error\":{\"code\":-32004,\"message\":\"open \\\"f\\\": \xEF\xBF\xBD\"},\"id\":\"x\"}");
  EXPECT_EQ(ErrorMessage(kNoRequest, {ErrorKind::kInvalidRequest, "no"}),
            R"({"error":{"code":-32600,"message":"no"},"id":-1})");
}

}  // namespace
}  // namespace holdfast::rpc
