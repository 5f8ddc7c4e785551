#include "rendezvous/token_file.h"

#include <sys/stat.h>

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "support/scratch_dir.h"

namespace holdfast::rendezvous {
namespace {

using testing::HasSubstr;

std::string FileWith(std::string_view token) {
  return fmt::format("[[client]]\ntoken_sha256 = \"{}\"\nids = [\"*\"]\n", Sha256Hex(token));
}

bool Has(const TokenReading& reading, std::string_view token) {
  return reading.table && reading.table->OfToken(token, TokenRights::Role::kClient) != nullptr;
}

class TokenFileTest : public testing::Test {
 protected:
  const support::ScratchDir dir_;
  const std::string path_ = dir_.Write("tokens.toml", FileWith("one"), 0600);
};

TEST_F(TokenFileTest, IsReadAgainOnlyWhenItHasChanged) {
  const TokenReading first = ReadTokenFile(path_);
  EXPECT_TRUE(Has(first, "one"));
  EXPECT_FALSE(ReadIfChanged(path_, first.version));
  const std::string next = dir_.Write("next.toml", FileWith("two"), 0600);
  ASSERT_EQ(std::rename(next.c_str(), path_.c_str()), 0);
  const auto second = ReadIfChanged(path_, first.version);
  ASSERT_TRUE(second);
  EXPECT_TRUE(Has(*second, "two"));
  EXPECT_FALSE(Has(*second, "one"));
  EXPECT_FALSE(ReadIfChanged(path_, second->version));
}

TEST_F(TokenFileTest, AFileThatCannotBeUsedIsReportedOnce) {
  const TokenReading first = ReadTokenFile(path_);
  (void)dir_.Write("tokens.toml", "nonsense", 0600);
  const auto second = ReadIfChanged(path_, first.version);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->table);
  EXPECT_FALSE(ReadIfChanged(path_, second->version));
  ASSERT_EQ(std::remove(path_.c_str()), 0);
  const auto third = ReadIfChanged(path_, second->version);
  ASSERT_TRUE(third);
  EXPECT_THAT(third->table.error().message, HasSubstr("No such file"));
  EXPECT_FALSE(ReadIfChanged(path_, third->version));
}

TEST_F(TokenFileTest, MustNotBeChangeableByOtherUsers) {
  ASSERT_EQ(::chmod(path_.c_str(), 0620), 0);
  EXPECT_THAT(ReadTokenFile(path_).table.error().message, HasSubstr("other users may change it"));
}

}  // namespace
}  // namespace holdfast::rendezvous
