#include "rendezvous/token_table.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"

namespace holdfast::rendezvous {
namespace {

using Role = TokenRights::Role;
using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto table = TokenTable::Parse(text, "t.toml");
  return table ? "" : table.error().message;
}

std::string Entry(std::string_view heading, std::string_view token, std::string_view more = "ids = [\"*\"]\n") {
  return fmt::format("[[{}]]\ntoken_sha256 = \"{}\"\n{}", heading, Sha256Hex(token), more);
}

TEST(IdPatternTest, AStarStandsForAnyText) {
  EXPECT_TRUE(IdPattern("build-*").Matches("build-7"));
  EXPECT_TRUE(IdPattern("build-*").Matches("build-"));
  EXPECT_TRUE(IdPattern("*").Matches("anything"));
  EXPECT_TRUE(IdPattern("*-eu-*").Matches("a-eu-b"));
  EXPECT_TRUE(IdPattern("a*ab").Matches("aaab"));
  EXPECT_TRUE(IdPattern("a**b").Matches("ab"));
}

TEST(IdPatternTest, OtherTextStandsForItself) {
  EXPECT_TRUE(IdPattern("build-7").Matches("build-7"));
  EXPECT_FALSE(IdPattern("build-7").Matches("build-77"));
  EXPECT_FALSE(IdPattern("build-*").Matches("build"));
  EXPECT_FALSE(IdPattern("build-*").Matches("a-build-7"));
  EXPECT_FALSE(IdPattern("*-eu").Matches("a-eu-b"));
  EXPECT_FALSE(IdPattern("a?c").Matches("abc"));
  EXPECT_FALSE(IdPattern("").Matches("a"));
}

TEST(IdPatternTest, ManyStarsTakeLittleTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(IdPattern(pattern + "b").Matches(std::string(2000, 'a')));
}

TEST(TokenTableTest, FindsTheRightsOfAToken) {
  const auto table =
      TokenTable::Parse(Entry("executor", "one", "ids = [\"build-*\", \"x\"]\nname = \"farm\"\nmax_connections = 3\n") +
                            Entry("client", "two"),
                        "t.toml");
  ASSERT_TRUE(table) << table.error().message;
  const TokenRights* const rights = table->OfToken("one", Role::kExecutor);
  ASSERT_NE(rights, nullptr);
  EXPECT_EQ(rights->name, "farm");
  EXPECT_EQ(rights->max_connections, 3u);
  EXPECT_EQ(rights->token_sha256, Sha256Hex("one"));
  EXPECT_TRUE(rights->Allows("build-7"));
  EXPECT_TRUE(rights->Allows("x"));
  EXPECT_FALSE(rights->Allows("y"));
  EXPECT_NE(table->OfDigest(Sha256Hex("two"), Role::kClient), nullptr);
}

TEST(TokenTableTest, ATokenIsForOneRoleOnly) {
  const auto table = TokenTable::Parse(Entry("executor", "one"), "t.toml");
  EXPECT_EQ(table->OfToken("one", Role::kClient), nullptr);
  EXPECT_EQ(table->OfToken("two", Role::kExecutor), nullptr);
  EXPECT_EQ(table->OfToken("", Role::kExecutor), nullptr);
}

TEST(TokenTableTest, TheDigestMayBeInUpperCaseAndNamesTheToken) {
  std::string digest = Sha256Hex("one");
  std::ranges::transform(digest, digest.begin(),
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  const std::string text = fmt::format("[[client]]\ntoken_sha256 = \"{}\"\nids = [\"*\"]\n", digest);
  const auto table = TokenTable::Parse(text, "t.toml");
  ASSERT_TRUE(table) << table.error().message;
  const TokenRights* const rights = table->OfToken("one", Role::kClient);
  ASSERT_NE(rights, nullptr);
  EXPECT_EQ(rights->name, Sha256Hex("one").substr(0, 8));
}

TEST(TokenTableTest, EveryMistakeNamesItsLine) {
  EXPECT_EQ(ErrorOf("[[executer]]\nids = [\"*\"]\n"), "tokens t.toml:1: unknown key \"executer\"");
  EXPECT_EQ(ErrorOf(Entry("client", "a", "ids = [\"*\"]\nid = 1\n")), "tokens t.toml:4: unknown key \"id\"");
  EXPECT_THAT(ErrorOf("[[client]]\ntoken_sha256 = \"12\"\nids = [\"*\"]\n"),
              HasSubstr("t.toml:2: token_sha256 has to be 64"));
  EXPECT_THAT(ErrorOf(Entry("client", "a", "ids = []\n")), HasSubstr("t.toml:3: ids has to be a list"));
  EXPECT_THAT(ErrorOf(Entry("client", "a", "ids = [7]\n")), HasSubstr("t.toml:3: each of ids"));
  EXPECT_THAT(ErrorOf(Entry("client", "a", "")), HasSubstr("t.toml:1: the entry has no ids"));
  EXPECT_THAT(ErrorOf("[[client]]\nids = [\"*\"]\n"), HasSubstr("t.toml:1: the entry has no token_sha256"));
  EXPECT_THAT(ErrorOf(Entry("client", "a") + Entry("executor", "a")), HasSubstr("t.toml:4: the token_sha256"));
  EXPECT_THAT(ErrorOf(Entry("client", "a", "ids = [\"*\"]\nmax_connections = 0\n")), HasSubstr("t.toml:4: max_"));
  EXPECT_THAT(ErrorOf(Entry("client", "a", "ids = [\"*\"]\nname = \"\"\n")), HasSubstr("t.toml:4: name"));
  EXPECT_THAT(ErrorOf("client = 1\n"), HasSubstr("t.toml:1: write [[client]]"));
  EXPECT_THAT(ErrorOf("client = ["), HasSubstr("t.toml:1"));
}

TEST(TokenTableTest, AFileWithoutEntriesIsAnError) {
  EXPECT_EQ(ErrorOf(""), "tokens t.toml: the file has no entry");
  EXPECT_EQ(ErrorOf("# nothing\n"), "tokens t.toml: the file has no entry");
}

}  // namespace
}  // namespace holdfast::rendezvous
