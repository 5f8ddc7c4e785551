#include "wire/decode.h"

#include <array>

#include <gtest/gtest.h>

namespace holdfast::wire {

enum class Colour { kRed, kBlue };
template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::pair<const char*, Colour>, 2> kNames{
      {{"red", Colour::kRed}, {"blue", Colour::kBlue}}};
};

namespace {

struct Inner {
  std::string name;
  std::vector<uint16_t> sizes;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Optional("sizes", sizes);
  }
};

struct Outer {
  std::string text;
  bool flag = true;
  std::optional<uint64_t> number;
  StringMap map;
  Colour colour = Colour::kRed;
  std::vector<Inner> inners;
  std::optional<Inner> maybe;

  void Fields(auto& f) {
    f.Required("text", text);
    f.Optional("flag", flag);
    f.Optional("number", number);
    f.Optional("map", map);
    f.Optional("colour", colour);
    f.Optional("inners", inners);
    f.Optional("maybe", maybe);
    if (text == "forbidden") f.Fault("text", "is forbidden");
  }
};

struct Bare {
  static constexpr bool kParamsOptional = true;
  std::optional<bool> flag;

  void Fields(auto& f) { f.Optional("flag", flag); }
};

class DecodeTest : public testing::Test {
 protected:
  template <typename T = Outer>
  T Accept(std::string_view text) {
    auto message = Decode<T>(document_.Parse(text).value());
    EXPECT_TRUE(message) << text << ": " << message.error().message;
    return message.value_or(T{});
  }

  template <typename T = Outer>
  std::string Fault(std::string_view text) {
    auto message = Decode<T>(document_.Parse(text).value());
    EXPECT_FALSE(message) << text;
    if (message) return "";
    EXPECT_EQ(message.error().kind, ErrorKind::kInvalidParams);
    return message.error().message;
  }

  Document document_;
};

TEST_F(DecodeTest, FillsEveryField) {
  const Outer outer = Accept(R"({"text":"t","flag":false,"number":7,"map":{"b":"1","a":"2"},"colour":"blue",
                                 "inners":[{"name":"n","sizes":[0,65535]}],"maybe":{"name":"m"}})");
  EXPECT_EQ(outer.text, "t");
  EXPECT_FALSE(outer.flag);
  EXPECT_EQ(outer.number, 7u);
  EXPECT_EQ(outer.map, (StringMap{{"b", "1"}, {"a", "2"}}));
  EXPECT_EQ(outer.colour, Colour::kBlue);
  EXPECT_EQ(outer.inners.at(0).sizes, (std::vector<uint16_t>{0, 65535}));
  EXPECT_EQ(outer.maybe->name, "m");
}

TEST_F(DecodeTest, LeavesTheDefaultsOfWhatIsAbsent) {
  const Outer outer = Accept(R"({"text":"t","unknown":{"deep":[1]}})");
  EXPECT_TRUE(outer.flag);
  EXPECT_EQ(outer.number, std::nullopt);
  EXPECT_FALSE(outer.maybe);
}

TEST_F(DecodeTest, TakesNullForAnOptionalOnly) {
  EXPECT_EQ(Accept(R"({"text":"t","number":null,"maybe":null})").number, std::nullopt);
  EXPECT_EQ(Fault(R"({"text":"t","flag":null})"), "flag: expected a boolean, got null");
  EXPECT_EQ(Fault(R"({"text":null})"), "text: expected a string, got null");
}

struct Signed {
  int64_t number = 0;
  std::optional<int64_t> nullable = 1;
  RawJson raw;

  void Fields(auto& f) {
    f.Required("number", number);
    f.Nullable("nullable", nullable);
    f.Optional("raw", raw);
  }
};

TEST_F(DecodeTest, ReadsSignedNumbersAndRawJson) {
  const auto read = Accept<Signed>(R"({"number":-5,"nullable":null,"raw":{"a": [1.50, "x"]}})");
  EXPECT_EQ(read.number, -5);
  EXPECT_EQ(read.nullable, std::nullopt);
  EXPECT_EQ(read.raw.text, R"({"a":[1.50,"x"]})");
  EXPECT_EQ(Accept<Signed>(R"({"number":0})").nullable, 1);
  EXPECT_EQ(Fault<Signed>(R"({"number":1.5})"), "number: expected a whole number, got a number");
}

TEST_F(DecodeTest, NamesTheMissingField) {
  EXPECT_EQ(Fault("{}"), "text: is missing");
  EXPECT_EQ(Fault(R"({"text":"t","inners":[{"name":"a"},{}]})"), "inners.1.name: is missing");
}

TEST_F(DecodeTest, NamesThePathOfAFault) {
  EXPECT_EQ(Fault(R"({"text":5})"), "text: expected a string, got a number");
  EXPECT_EQ(Fault(R"({"text":"t","map":{"A":5}})"), "map.A: expected a string, got a number");
  EXPECT_EQ(Fault(R"({"text":"t","map":[]})"), "map: expected an object, got an array");
  EXPECT_EQ(Fault(R"({"text":"t","maybe":{"name":"m","sizes":[1,"x"]}})"),
            "maybe.sizes.1: expected a whole number from 0 to 65535, got a string");
  EXPECT_EQ(Fault(R"({"text":"t","inners":{}})"), "inners: expected an array, got an object");
  EXPECT_EQ(Fault(R"({"text":"t","colour":"green"})"), "colour: is not one of the known values");
}

TEST_F(DecodeTest, ReportsTheFirstFault) { EXPECT_EQ(Fault(R"({"text":1,"flag":2})").find("text"), 0u); }

TEST_F(DecodeTest, RefusesNumbersOutOfRange) {
  for (const char* number : {"-1", "1.5", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(Fault(std::string(R"({"text":"t","number":)") + number + "}"),
              "number: expected a whole number that is not negative, got a number");
  }
  EXPECT_EQ(Accept(R"({"text":"t","number":18446744073709551615})").number, UINT64_MAX);
  Fault(R"({"text":"t","maybe":{"name":"m","sizes":[65536]}})");
}

TEST_F(DecodeTest, LetsAStructObject) { EXPECT_EQ(Fault(R"({"text":"forbidden"})"), "text: is forbidden"); }

TEST_F(DecodeTest, NeedsAnObject) {
  for (const char* text : {"null", "[]", "5", "\"t\""}) Fault(text);
  EXPECT_EQ(Fault("[]"), "params: expected an object, got an array");
}

TEST_F(DecodeTest, TakesNoParamsWhereTheStructAllowsIt) {
  EXPECT_EQ(Accept<Bare>("null").flag, std::nullopt);
  EXPECT_EQ(Accept<Bare>(R"({"flag":true})").flag, true);
  EXPECT_TRUE(Decode<Bare>(Json()));
  Fault<Bare>("[]");
}

}  // namespace
}  // namespace holdfast::wire
