#include "remote/token.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::remote {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class TokenTest : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv(kTokenVariable);
    ::unsetenv(kTokenFileVariable);
  }

  std::string TokenFile(const std::string& text, mode_t mode) {
    const std::string path = dir_.Write("token", text);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string ErrorOf(const TokenSource& source) {
    const auto token = ReadToken(source);
    return token ? "" : token.error().message;
  }

  support::ScratchDir dir_;
};

TEST_F(TokenTest, TakesTheTokenOutOfTheEnvironment) {
  ::setenv(kTokenVariable, " sesame ", 1);
  ::setenv(kTokenFileVariable, "/file", 1);
  const char* const memory = std::getenv(kTokenVariable);
  const auto source = TakeTokenSource("executor");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(ReadToken(*source).value_or(""), "sesame");
  EXPECT_EQ(std::getenv(kTokenVariable), nullptr);
  EXPECT_EQ(std::getenv(kTokenFileVariable), nullptr);
  EXPECT_THAT(std::string(memory, 8), Not(HasSubstr("sesame")));
}

TEST_F(TokenTest, TheFileCountsOnlyWithoutTheVariable) {
  ::setenv(kTokenFileVariable, TokenFile("from file\n", 0600).c_str(), 1);
  const auto source = TakeTokenSource("executor");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(ReadToken(*source).value_or(""), "from file");
}

TEST_F(TokenTest, ComplainsOfAMissingToken) {
  EXPECT_EQ(TakeTokenSource("executor").error().message,
            "executor registry authentication error: executor registry bearer token environment variable "
            "`CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN` is not set");
  ::setenv(kTokenVariable, " \t\n", 1);
  EXPECT_EQ(TakeTokenSource("executor").error().message,
            "executor registry authentication error: executor registry bearer token environment variable "
            "`CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN` is empty");
}

TEST_F(TokenTest, ReadsTheFileAgainEachTime) {
  const TokenSource source{.file = TokenFile("one", 0600)};
  EXPECT_EQ(ReadToken(source).value_or(""), "one");
  TokenFile("two", 0640);
  EXPECT_EQ(ReadToken(source).value_or(""), "two");
}

TEST_F(TokenTest, RefusesAFileThatOthersCanReadOrChange) {
  EXPECT_THAT(ErrorOf({.file = TokenFile("sesame", 0604)}), EndsWith("token can be read by every user (chmod o-r)"));
  for (const mode_t mode : {0620, 0602}) {
    EXPECT_THAT(ErrorOf({.file = TokenFile("sesame", mode)}),
                EndsWith("token can be changed by other users (chmod go-w)"));
  }
}

TEST_F(TokenTest, RefusesWhatIsNotAUsableFile) {
  EXPECT_THAT(ErrorOf({.file = dir_.path()}), EndsWith("is not a regular file"));
  EXPECT_THAT(ErrorOf({.file = dir_.path() + "/none"}), EndsWith("No such file or directory"));
  EXPECT_THAT(ErrorOf({.file = TokenFile(" \n", 0600)}), EndsWith("token is empty"));
  EXPECT_THAT(ErrorOf({.file = TokenFile(std::string(20'000, 'x'), 0600)}), EndsWith("is longer than 16384 bytes"));
}

TEST_F(TokenTest, RefusesATokenThatIsNotAHeaderAndDoesNotRepeatIt) {
  const std::string error = ErrorOf({.token = "ses\name"});
  EXPECT_EQ(error, "the bearer token has characters that HTTP does not allow");
}

class TokenLineTest : public TokenTest {
 protected:
  // Returns the read end of a pipe that holds the text, and ends behind it.
  static OwnedFd InputOf(const std::string& text) {
    auto pipe = sys::MakePipe(sys::OurEnd::kRead);
    EXPECT_TRUE(pipe) << pipe.error().message;
    EXPECT_EQ(sys::Write(pipe->write_end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return std::move(pipe->read_end);
  }
  static std::string ErrorOfLine(const std::string& text) {
    const auto source = ReadTokenLine(InputOf(text).get());
    return source ? "" : source.error().message;
  }
};

TEST_F(TokenLineTest, IsTheTokenAndEndsWhatIsRead) {
  const OwnedFd input = InputOf(" sesame \nthe rest");
  const auto source = ReadTokenLine(input.get());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(ReadToken(*source).value_or(""), "sesame");
  char rest[16];
  EXPECT_EQ(std::string_view(rest, static_cast<size_t>(sys::Read(input.get(), rest, sizeof(rest)))), "the rest");
}

TEST_F(TokenLineTest, IsReadBeforeTheInputEnds) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  ASSERT_TRUE(pipe);
  ASSERT_EQ(sys::Write(pipe->write_end.get(), "sesame\n", 7), 7);
  const auto source = ReadTokenLine(pipe->read_end.get());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->token, "sesame");
}

TEST_F(TokenLineTest, CountsInThePlaceOfTheVariablesAndTakesThemAway) {
  ::setenv(kTokenVariable, "from the environment", 1);
  ::setenv(kTokenFileVariable, "/file", 1);
  const auto source = ReadTokenLine(InputOf("sesame\n").get());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(ReadToken(*source).value_or(""), "sesame");
  EXPECT_EQ(std::getenv(kTokenVariable), nullptr);
  EXPECT_EQ(std::getenv(kTokenFileVariable), nullptr);
}

TEST_F(TokenLineTest, MustBeWholeAndUsable) {
  EXPECT_EQ(ErrorOfLine(""), "standard input ends before the line of the bearer token");
  EXPECT_EQ(ErrorOfLine("sesame"), "standard input ends before the line of the bearer token");
  EXPECT_EQ(ErrorOfLine(" \n"), "the bearer token is empty");
  EXPECT_EQ(ErrorOfLine("ses\x01me\n"), "the bearer token has characters that HTTP does not allow");
  EXPECT_EQ(ErrorOfLine(std::string(20'000, 'x') + "\n"), "the bearer token is longer than 16384 bytes");
}

}  // namespace
}  // namespace holdfast::remote
