#include "base/toml_file.h"

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast {
namespace {

TEST(TomlFileTest, IsReadWhole) {
  const support::ScratchDir dir;
  const std::string text = std::string(10'000, '#') + "\n";
  EXPECT_EQ(ReadTomlFile(dir.Write("f", text)), text);
  EXPECT_EQ(ReadTomlFile(dir.Write("f", "")), "");
}

TEST(TomlFileTest, SaysWhyItCannotBeRead) {
  const support::ScratchDir dir;
  const std::string none = dir.path() + "/none";
  EXPECT_EQ(ReadTomlFile(none).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ReadTomlFile(none).error().message, "open " + none + ": No such file or directory");
  EXPECT_EQ(ReadTomlFile(dir.path()).error().message, "read " + dir.path() + ": Is a directory");
}

TEST(TomlFileTest, MayBeAMegabyteLong) {
  const support::ScratchDir dir;
  EXPECT_TRUE(ReadTomlFile(dir.Write("f", std::string(1 << 20, '#'))));
  EXPECT_EQ(ReadTomlFile(dir.Write("f", std::string((1 << 20) + 1, '#'))).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(ReadTomlFile("/dev/zero").error().kind, ErrorKind::kLimit);
}

TEST(TomlFileTest, ErrorsNameTheFileAndTheLine) {
  EXPECT_TRUE(ParseToml("a = 1\n", "config", "f"));
  const auto parsed = ParseToml("a = 1\nb = \n", "config", "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalidParams);
  EXPECT_TRUE(parsed.error().message.starts_with("config f:2: ")) << parsed.error().message;
}

// The parser recurses once for each dot.
TEST(TomlFileTest, DotsAreCounted) {
  const auto key = [](size_t dots) {
    std::string text = "a";
    for (size_t i = 0; i < dots; ++i) text += ".a";
    return text + " = 1\n";
  };
  EXPECT_TRUE(ParseToml(key(100), "config", "f"));
  const auto parsed = ParseToml(key(16'385), "config", "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "config f: more than 16384 dots");
}

}  // namespace
}  // namespace holdfast
