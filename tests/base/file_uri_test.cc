#include "base/file_uri.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::string_view_literals;

struct Reading {
  std::string_view text;
  std::string_view path;
};

void ExpectReadings(std::initializer_list<Reading> readings) {
  for (const Reading& reading : readings) {
    const Result<std::string> path = ParsePath(reading.text);
    ASSERT_TRUE(path.has_value()) << reading.text << ": " << path.error().message;
    EXPECT_EQ(*path, reading.path) << reading.text;
  }
}

struct Refusal {
  std::string_view text;
  ErrorKind kind;
  std::string_view message;
};

void ExpectRefusals(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    const Result<std::string> path = ParsePath(refusal.text);
    ASSERT_FALSE(path.has_value()) << refusal.text << " read as " << *path;
    EXPECT_EQ(path.error().kind, refusal.kind) << refusal.text;
    EXPECT_EQ(path.error().message, refusal.message);
  }
}

TEST(ParsePathTest, NormalizesAbsolutePaths) {
  ExpectReadings({
      {"/", "/"},
      {"/a/b", "/a/b"},
      {"/a/b/", "/a/b"},
      {"//a///b//", "/a/b"},
      {"/a/./b/.", "/a/b"},
      {"/a/b/../c", "/a/c"},
      {"/a/b/..", "/a"},
      {"/a/..", "/"},
      {"/..", "/"},
      {"/../../a", "/a"},
      {"/a/.../..b/c..", "/a/.../..b/c.."},
  });
}

TEST(ParsePathTest, TakesAbsolutePathsLiterally) {
  ExpectReadings({
      {"/a%20b", "/a%20b"},
      {"/a?b#c", "/a?b#c"},
      {"/a\\..\\b", "/a\\..\\b"},
      {"/\xff\xfe", "/\xff\xfe"},
  });
}

TEST(ParsePathTest, ReadsFileUris) {
  ExpectReadings({
      {"file:///a/b", "/a/b"},
      {"file:/a/b", "/a/b"},
      {"FILE:///a", "/a"},
      {"file://localhost/a", "/a"},
      {"file://LocalHost/a", "/a"},
      {"file:////a", "/a"},
      {"file:///", "/"},
      {"file://", "/"},
      {"file:///a/../b/", "/b"},
      {"file:\\\\\\a\\b", "/a/b"},
  });
}

TEST(ParsePathTest, DecodesPercentEscapesToRawBytes) {
  ExpectReadings({
      {"file:///a%20b", "/a b"},
      {"file:///%ff%FE", "/\xff\xfe"},
      {"file:///%3Fq%23f", "/?q#f"},
      {"file:///a%5Cb", "/a\\b"},
      {"file:///a/%2e%2E/b", "/b"},
      {"file:///a/.%2e/%2e/b", "/b"},
      {"file:///a%2f..%2fb", "/b"},
      {"file:///%252e", "/%2e"},
  });
}

TEST(ParsePathTest, KeepsMalformedEscapesLiterally) {
  ExpectReadings({
      {"file:///%", "/%"},
      {"file:///a%2", "/a%2"},
      {"file:///%zz", "/%zz"},
      {"file:///%2g%41", "/%2gA"},
      {"file:///%%41", "/%A"},
  });
}

TEST(ParsePathTest, RefusesWhatIsNotAbsolute) {
  ExpectRefusals({
      {"", ErrorKind::kInvalidParams, "path \"\": not absolute"},
      {"x", ErrorKind::kInvalidParams, "path \"x\": not absolute"},
      {"./a", ErrorKind::kInvalidParams, "path \"./a\": not absolute"},
      {"~/a", ErrorKind::kInvalidParams, "path \"~/a\": not absolute"},
      {":/a", ErrorKind::kInvalidParams, "path \":/a\": not absolute"},
      {"9p:/a", ErrorKind::kInvalidParams, "path \"9p:/a\": not absolute"},
      {"a b:/c", ErrorKind::kInvalidParams, "path \"a b:/c\": not absolute"},
      {"file:", ErrorKind::kInvalidParams, "path \"file:\": not absolute"},
      {"file:a", ErrorKind::kInvalidParams, "path \"file:a\": not absolute"},
      {"file:%2fa", ErrorKind::kInvalidParams, "path \"file:%2fa\": not absolute"},
  });
}

TEST(ParsePathTest, RefusesForeignUris) {
  ExpectRefusals({
      {"http://a/b", ErrorKind::kInvalidParams, "path \"http://a/b\": scheme \"http\" is not file"},
      {"c:/a", ErrorKind::kInvalidParams, "path \"c:/a\": scheme \"c\" is not file"},
      {"file://h/a", ErrorKind::kInvalidRequest, "path \"file://h/a\": host \"h\" is not this machine"},
      {"file://h", ErrorKind::kInvalidRequest, "path \"file://h\": host \"h\" is not this machine"},
      {"file:\\\\h\\a", ErrorKind::kInvalidRequest, "path \"file:\\\\h\\a\": host \"h\" is not this machine"},
      {"file:///a?b", ErrorKind::kInvalidParams, "path \"file:///a?b\": query not allowed"},
      {"file:///a?", ErrorKind::kInvalidParams, "path \"file:///a?\": query not allowed"},
      {"file:///a#b?", ErrorKind::kInvalidParams, "path \"file:///a#b?\": fragment not allowed"},
  });
}

TEST(ParsePathTest, RefusesNulInEitherForm) {
  ExpectRefusals({
      {"file:///a%00b", ErrorKind::kInvalidParams, "path \"file:///a%00b\": contains a nul byte"},
      {"file:///a\0"sv, ErrorKind::kInvalidParams, "path \"file:///a\0\": contains a nul byte"sv},
      {"/a\0b"sv, ErrorKind::kInvalidParams, "path \"/a\0b\": contains a nul byte"sv},
      {"/a\0/../b"sv, ErrorKind::kInvalidParams, "path \"/a\0/../b\": contains a nul byte"sv},
  });
}

TEST(ParsePathTest, CutsLongTextsBetweenCharacters) {
  const std::string text = std::string(255, 'x') + "\xc3\xa9" + std::string(1000, 'y');
  EXPECT_EQ(ParsePath(text).error().message, "path \"" + std::string(255, 'x') + "...\": not absolute");
}

TEST(FileUriTest, EscapesThePathSet) {
  EXPECT_EQ(FileUri("/"), "file:///");
  EXPECT_EQ(FileUri("/a-b_c.d~e/f:g@h|i"), "file:///a-b_c.d~e/f:g@h|i");
  EXPECT_EQ(FileUri("/ \"#<>?^`{}%\\"), "file:///%20%22%23%3C%3E%3F%5E%60%7B%7D%25%5C");
  EXPECT_EQ(FileUri("/\x01\n\x1f\x7f\xc3\xa9\xff"), "file:///%01%0A%1F%7F%C3%A9%FF");
}

TEST(FileUriTest, RoundTripsEveryByte) {
  for (int byte = 1; byte < 256; ++byte) {
    const std::string path = std::string("/x") + static_cast<char>(byte) + "y";
    ASSERT_EQ(ParsePath(FileUri(path)), path) << "byte " << byte;
  }
}

TEST(FileUriTest, RoundTripsRandomPaths) {
  std::mt19937 random(11);
  constexpr std::string_view likely = "/.%2eE\\:aF";
  for (int round = 0; round < 20000; ++round) {
    std::string raw = "/";
    for (uint32_t left = random() % 24; left > 0; --left) {
      raw += random() % 3 == 0 ? static_cast<char>(random() % 255 + 1) : likely[random() % likely.size()];
    }
    const Result<std::string> path = ParsePath(raw);
    ASSERT_TRUE(path.has_value()) << raw;
    ASSERT_EQ(ParsePath(*path), *path) << raw;
    ASSERT_EQ(ParsePath(FileUri(*path)), *path) << raw;
  }
}

}  // namespace
}  // namespace holdfast
