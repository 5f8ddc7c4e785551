#include "wire/json.h"
#include "wire/json_limits.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class JsonTest : public testing::Test {
 protected:
  Json Parse(std::string_view text) {
    auto json = document_.Parse(text);
    EXPECT_TRUE(json) << text << ": " << json.error().message;
    return json.value_or(Json());
  }

  std::string Refusal(std::string_view text) {
    auto json = document_.Parse(text);
    EXPECT_FALSE(json) << text;
    if (json) return "";
    const bool is_json = !json.error().message.starts_with("not JSON");
    EXPECT_EQ(json.error().kind, is_json ? ErrorKind::kInvalidRequest : ErrorKind::kNotJson);
    return json.error().message;
  }

  static std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

  Document document_;
};

TEST_F(JsonTest, KnowsTheKindOfEveryValue) {
  const Json array = Parse(R"([null,true,"s",5,1.5,[],{}])");
  ASSERT_EQ(array.size(), 7u);
  std::vector<std::string_view> kinds;
  for (size_t i = 0; i < array.size(); ++i) kinds.push_back(array.at(i).kind());
  EXPECT_THAT(kinds, ElementsAre("null", "a boolean", "a string", "a number", "a number", "an array", "an object"));
}

TEST_F(JsonTest, CountsAbsentAsNull) {
  const Json missing = Parse(R"({"a":null})").Find("b");
  EXPECT_TRUE(missing.is_absent());
  EXPECT_TRUE(missing.is_null());
  EXPECT_FALSE(Parse(R"({"a":null})").Find("a").is_absent());
  EXPECT_TRUE(missing.Find("c").is_absent());
  EXPECT_EQ(missing.size(), 0u);
}

TEST_F(JsonTest, ReadsIntegersOverTheirWholeRange) {
  EXPECT_EQ(Parse("-9223372036854775808").int64(), INT64_MIN);
  EXPECT_EQ(Parse("9223372036854775807").int64(), INT64_MAX);
  EXPECT_EQ(Parse("9223372036854775808").int64(), std::nullopt);
  EXPECT_EQ(Parse("18446744073709551615").uint64(), UINT64_MAX);
  EXPECT_EQ(Parse("0").uint64(), 0u);
  EXPECT_EQ(Parse("-1").uint64(), std::nullopt);
}

TEST_F(JsonTest, TakesNoFractionForAnInteger) {
  for (const char* text : {"1.0", "1e2", "1.5", "\"1\"", "true", "18446744073709551616"}) {
    EXPECT_EQ(Parse(text).int64(), std::nullopt) << text;
    EXPECT_EQ(Parse(text).uint64(), std::nullopt) << text;
  }
}

TEST_F(JsonTest, DecodesEscapes) {
  EXPECT_EQ(Parse(R"("a\n\u00e9\ud83d\ude00\\")").string(), "a\n\xc3\xa9\xf0\x9f\x98\x80\\");
  EXPECT_EQ(Parse(R"("a\u0000b")").string(), std::string_view("a\0b", 3));
}

TEST_F(JsonTest, VisitsMembersInTheirOrder) {
  std::vector<std::string> keys;
  Parse(R"({"b":1,"a":2,"":3})").ForEachMember([&](std::string_view key, Json) { keys.emplace_back(key); });
  EXPECT_THAT(keys, ElementsAre("b", "a", ""));
}

TEST_F(JsonTest, RefusesWhatIsNotStrictJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "'a'", "nul", "01", "+1", "1 2", "{} {}",
                           "// c\n1", "\"\t\"", "NaN", "\"\\ud800\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\""}) {
    EXPECT_THAT(Refusal(text), HasSubstr("not JSON at byte")) << text;
  }
}

TEST_F(JsonTest, RefusesARepeatedKeyAnywhere) {
  for (const char* text :
       {R"({"a":1,"a":1})", R"({"a":{"b":1,"b":2}})", R"([[{"x":{},"y":1,"x":{}}]])", R"({"a":1,"\u0061":2})"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("twice")) << text;
  }
  Parse(R"({"a":{"a":1},"b":{"a":1}})");
}

TEST_F(JsonTest, RefusesARepeatedKeyInALargeObject) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_THAT(Refusal(text + "\"k500\":0}"), HasSubstr("twice"));
  EXPECT_EQ(Parse(text + "\"k1000\":0}").size(), 1001u);
}

TEST_F(JsonTest, BoundsTheDepth) {
  Parse(Nested(kMaxJsonDepth));
  Refusal(Nested(kMaxJsonDepth + 1));
  Refusal(std::string(100'000, '['));
}

TEST_F(JsonTest, BoundsTheNumberOfValues) {
  auto zeros = [](size_t count) {
    std::string text = "[0";
    for (size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  EXPECT_EQ(Parse(zeros(kMaxJsonValues - 1)).size(), kMaxJsonValues - 1);  // the array counts as a value too
  EXPECT_THAT(Refusal(zeros(kMaxJsonValues)), HasSubstr("262144"));
}

TEST_F(JsonTest, ParsesAgainAfterAFailure) {
  Refusal(R"({"a":[1,2,{"b":"unfini)");
  EXPECT_EQ(Parse(R"({"a":1})").Find("a").int64(), 1);
  document_.Clear();
  EXPECT_EQ(Parse("2").int64(), 2);
}

TEST_F(JsonTest, HoldsALargeString) {
  const std::string large(5'000'000, 'x');
  EXPECT_TRUE(Parse("\"" + large + "\"").string() == large);
}

}  // namespace
}  // namespace holdfast::wire
