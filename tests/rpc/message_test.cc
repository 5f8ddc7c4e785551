#include "rpc/message.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::rpc {
namespace {

class MessageTest : public testing::Test {
 protected:
  Message Parse(std::string_view text) {
    auto incoming = ParseMessage(document_, text);
    EXPECT_TRUE(incoming) << text << ": " << incoming.error().message;
    return incoming ? *incoming : Message(Notification{});
  }

  Response ParsedResponse(std::string_view text) {
    Message message = Parse(text);
    auto* response = std::get_if<Response>(&message);
    EXPECT_NE(response, nullptr) << text;
    return response != nullptr ? std::move(*response) : Response{kNoRequest, wire::Json()};
  }

  void ExpectRefused(std::string_view text) {
    auto incoming = ParseMessage(document_, text);
    ASSERT_FALSE(incoming) << text;
    EXPECT_THAT(incoming.error().kind, testing::AnyOf(ErrorKind::kInvalidRequest, ErrorKind::kNotJson)) << text;
  }

  wire::Document document_;
};

TEST_F(MessageTest, TakesAMethodWithAnIdForARequest) {
  const Message incoming = Parse(R"({"id":7,"method":"a/b","params":{"x":1}})");
  const Request& request = std::get<Request>(incoming);
  EXPECT_EQ(request.id, RequestId(int64_t{7}));
  EXPECT_EQ(request.method, "a/b");
  EXPECT_EQ(request.params.Find("x").int64(), 1);
}

TEST_F(MessageTest, TakesAMethodAloneForANotification) {
  const Message incoming = Parse(R"({"method":"a/b"})");
  EXPECT_EQ(std::get<Notification>(incoming).method, "a/b");
  EXPECT_TRUE(std::get<Notification>(incoming).params.is_absent());
}

TEST_F(MessageTest, KeepsTheTypeOfAnId) {
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":"1","method":"m"})")).id, RequestId("1"));
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":1,"method":"m"})")).id, RequestId(int64_t{1}));
  EXPECT_EQ(std::get<Request>(Parse(R"({"id":-9223372036854775808,"method":"m"})")).id, RequestId(INT64_MIN));
}

TEST_F(MessageTest, RefusesEveryOtherId) {
  for (const char* id : {"null", "1.5", "1e2", "true", "[1]", "{}", "9223372036854775808", "18446744073709551615"}) {
    ExpectRefused(std::string(R"({"method":"m","id":)") + id + "}");
  }
}

TEST_F(MessageTest, RefusesWhatIsNoMessage) {
  for (const char* text : {"", " ", "null", "[]", R"([{"id":1,"method":"m"}])", R"({"method":null})", R"({"method":5})",
                           R"({"id":1,"method":5})", R"({"method":"m"} x)"}) {
    ExpectRefused(text);
  }
}

TEST_F(MessageTest, TakesAMessageWithoutAMethodForAResponse) {
  const Response response = ParsedResponse(R"({"id":"7","result":{"x":1}})");
  EXPECT_EQ(response.id, RequestId("7"));
  EXPECT_EQ(response.result.value().Find("x").int64(), 1);
  EXPECT_TRUE(ParsedResponse(R"({"id":7,"result":null,"error":null})").result.value().is_null());
}

TEST_F(MessageTest, GivesAResponseWithoutAUsualIdTheIdOfNoRequest) {
  for (const char* text : {"{}", R"({"result":{}})", R"({"id":null,"error":{}})", R"({"id":1.5,"result":1})"}) {
    EXPECT_EQ(ParsedResponse(text).id, kNoRequest) << text;
  }
}

TEST_F(MessageTest, ReadsTheKindAndTheTextOfAnError) {
  auto error = [this](std::string_view json) {
    return ParsedResponse(R"({"id":1,"error":)" + std::string(json) + "}").result.error();
  };
  EXPECT_EQ(error(R"({"code":-32004,"message":"no file"})"), (Error{ErrorKind::kNotFound, "no file"}));
  EXPECT_EQ(error(R"({"code":-32603,"message":"broken","data":[]})"), (Error{ErrorKind::kSystem, "broken"}));
  EXPECT_EQ(error(R"({"code":-32603,"message":"no","data":{"kind":"noSuchProgram"}})"),
            (Error{ErrorKind::kNoSuchProgram, "no"}));
  EXPECT_EQ(error(R"({"code":-32603,"message":"no","data":{"kind":7}})"), (Error{ErrorKind::kSystem, "no"}));
  EXPECT_EQ(error(R"({"code":-32050,"message":"odd"})"), (Error{ErrorKind::kSystem, "odd (code -32050)"}));
  for (const char* malformed : {"{}", "5", R"({"code":"x","message":1})"}) {
    EXPECT_EQ(error(malformed), (Error{ErrorKind::kSystem, "no reason was given"})) << malformed;
  }
}

TEST_F(MessageTest, TakesAResponseWithNeitherResultNorErrorForAnError) {
  EXPECT_EQ(ParsedResponse(R"({"id":1})").result.error().kind, ErrorKind::kInternal);
}

TEST(BeginRequestTest, WritesIdAndMethod) {
  EXPECT_EQ(BeginRequest(int64_t{5}, "a/b") + "{}}", R"({"id":5,"method":"a/b","params":{}})");
  EXPECT_EQ(BeginNotification("a/b") + "{}}", R"({"method":"a/b","params":{}})");
}

TEST(DialectTest, WritesTheVersionIfItIsWanted) {
  EXPECT_EQ(BeginRequest(int64_t{5}, "m", Dialect::kJsonRpc), R"({"jsonrpc":"2.0","id":5,"method":"m","params":)");
  EXPECT_EQ(BeginNotification("m", Dialect::kJsonRpc), R"({"jsonrpc":"2.0","method":"m","params":)");
  EXPECT_EQ(BeginResult(int64_t{5}, Dialect::kJsonRpc), R"({"jsonrpc":"2.0","id":5,"result":)");
  EXPECT_EQ(ErrorMessage(int64_t{5}, {ErrorKind::kLimit, "no"}, Dialect::kJsonRpc),
            R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"no"},"id":5})");
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

TEST(ErrorMessageTest, NamesAKindThatItsCodeDoesNotTell) {
  EXPECT_EQ(ErrorMessage(int64_t{1}, {ErrorKind::kNoSuchProgram, "no"}),
            R"({"error":{"code":-32603,"message":"no","data":{"kind":"noSuchProgram"}},"id":1})");
}

TEST(RefusalMessageTest, HasTheIdAndTheCodeOfItsDialect) {
  const Error error{ErrorKind::kNotJson, "no"};
  EXPECT_EQ(RefusalMessage(error), R"({"error":{"code":-32600,"message":"no"},"id":-1})");
  EXPECT_EQ(RefusalMessage(error, Dialect::kJsonRpc),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no"},"id":null})");
  EXPECT_EQ(RefusalMessage({ErrorKind::kInvalidParams, "no"}), R"({"error":{"code":-32602,"message":"no"},"id":-1})");
}

}  // namespace
}  // namespace holdfast::rpc
