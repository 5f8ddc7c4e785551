#include "wire/encode.h"

#include <array>

#include <gtest/gtest.h>

#include "wire/json.h"

namespace holdfast::wire {

enum class Level { kLow, kHigh };
template <>
struct EnumNames<Level> {
  static constexpr std::array<std::pair<const char*, Level>, 2> kNames{{{"low", Level::kLow}, {"high", Level::kHigh}}};
};

namespace {

std::string Quote(std::string_view text) {
  std::string out;
  AppendString(out, text);
  return out;
}

struct Leaf {
  int64_t number = 0;

  void Fields(auto& f) { f.Required("number", number); }
};

struct Tree {
  std::string text = "t";
  bool flag = true;
  uint64_t large = UINT64_MAX;
  int64_t small = INT64_MIN;
  std::optional<int64_t> nothing, left_out, there = 3;
  std::vector<Leaf> leaves = {{1}, {2}};
  std::vector<std::string> words;
  Level level = Level::kHigh;
  Bytes bytes = {"hi"};
  StringMap map = {{"b", "1"}, {"a", "\n"}};
  RawJson raw = {R"([1, 2.50])"};
  Given given = {true}, not_given;

  void Fields(auto& f) {
    f.Required("text", text);
    f.Required("flag", flag);
    f.Required("large", large);
    f.Required("small", small);
    f.Nullable("nothing", nothing);
    f.Optional("leftOut", left_out);
    f.Optional("there", there);
    f.Required("leaves", leaves);
    f.Required("words", words);
    f.Required("level", level);
    f.Required("bytes", bytes);
    f.Optional("map", map);
    f.Required("raw", raw);
    f.Optional("given", given);
    f.Optional("notGiven", not_given);
  }
};

struct Nothing {
  void Fields(auto&) {}
};

TEST(EncodeTest, WritesEveryKindOfField) {
  EXPECT_EQ(
      Encode(Tree{}),
      R"({"text":"t","flag":true,"large":18446744073709551615,"small":-9223372036854775808,"nothing":null,"there":3,)"
      R"("leaves":[{"number":1},{"number":2}],"words":[],"level":"high","bytes":"aGk=",)"
      R"("map":{"b":"1","a":"\n"},"raw":[1, 2.50],"given":true})");
}

TEST(EncodeTest, WritesAnEmptyObject) { EXPECT_EQ(Encode(Nothing{}), "{}"); }

TEST(AppendJsonTest, WritesWhatWasParsed) {
  Document document;
  for (const char* text :
       {"null", "true", "false", "0", "-9223372036854775808", "18446744073709551615", "1.50", "-0.0", "1e400",
        "123456789012345678901234567890.5E-3", R"("a\n\"")", "[]", "{}", R"([1,[],{"b":[null],"a":{}},"x"])"}) {
    std::string out = "x";
    const auto json = document.Parse(text);
    ASSERT_TRUE(json) << text;
    AppendJson(out, *json);
    EXPECT_EQ(out, std::string("x") + text);
  }
}

TEST(AppendJsonTest, LeavesSpacesAndNeedlessEscapesOut) {
  Document document;
  std::string out;
  AppendJson(out, document.Parse(R"( { "\u0061" : [ 1 , "\/" ] } )").value());
  EXPECT_EQ(out, R"({"a":[1,"/"]})");
}

TEST(AppendStringTest, EscapesWhatJsonNeeds) {
  EXPECT_EQ(Quote("plain"), R"("plain")");
  EXPECT_EQ(Quote("\"\\\n\r\t"), R"("\"\\\n\r\t")");
  EXPECT_EQ(Quote(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
}

TEST(AppendStringTest, KeepsValidUtf8) {
  for (const char* text : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa9z"}) {
    EXPECT_EQ(Quote(text), '"' + std::string(text) + '"');
  }
}

TEST(AppendStringTest, ReplacesEachBadByte) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(Quote("a\xffz"), "\"a" + bad + "z\"");
  EXPECT_EQ(Quote("\xc3"), '"' + bad + '"');                                // cut off
  EXPECT_EQ(Quote("\xc0\x80"), '"' + bad + bad + '"');                      // overlong
  EXPECT_EQ(Quote("\xed\xa0\x80"), '"' + bad + bad + bad + '"');            // a surrogate
  EXPECT_EQ(Quote("\xf4\x90\x80\x80"), '"' + bad + bad + bad + bad + '"');  // beyond U+10FFFF
  EXPECT_EQ(Quote("\xe2\x82z"), '"' + bad + bad + "z\"");
}

// Every pair of bytes becomes text that the strict parser accepts.
TEST(AppendStringTest, AlwaysWritesWhatParses) {
  Document document;
  for (int pair = 0; pair < 65536; ++pair) {
    const char text[] = {static_cast<char>(pair >> 8), static_cast<char>(pair), 'x'};
    ASSERT_TRUE(document.Parse(Quote({text, 3}))) << pair;
  }
}

TEST(AppendBase64Test, AppendsBehindWhatIsThere) {
  std::string out = "x:";
  AppendBase64(out, "");
  AppendBase64(out, "a");
  AppendBase64(out, std::string_view("\0\xff", 2));
  EXPECT_EQ(out, R"(x:"""YQ==""AP8=")");
}

}  // namespace
}  // namespace holdfast::wire
