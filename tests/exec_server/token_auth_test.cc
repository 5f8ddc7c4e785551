#include "exec_server/token_auth.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::exec_server {
namespace {

using testing::StartsWith;
using Status = transport::HttpRefusal::Status;

constexpr const char* kToken = "a-token-of-some-length";

class TokenAuthTest : public testing::Test {
 protected:
  void SetUp() override {
    config_.ws_auth = "capability-token";
    config_.ws_token_file = scratch_.Write("token", kToken, 0600);
    auto made = TokenAuth::Create(config_);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    auth_ = *made;
  }

  // The peer is at the other end of a pair of unix sockets, which is not loopback.
  std::optional<transport::HttpRefusal> Try(std::string_view header) {
    return auth_->Refuse({.authorization = {header}, .socket = pair_.ours.get()});
  }

  support::ScratchDir scratch_;
  Config config_;
  std::shared_ptr<TokenAuth> auth_;
  sys::SocketPair pair_ = *sys::MakePacketPair();
};

TEST_F(TokenAuthTest, IsNoneWithoutASettingThatAsksForTokens) {
  for (const char* other : {"auto", "none", "url-secret"}) {
    Config config;
    config.ws_auth = other;
    const auto made = TokenAuth::Create(config);
    ASSERT_TRUE(made.has_value()) << other;
    EXPECT_EQ(*made, nullptr) << other;
  }
}

TEST_F(TokenAuthTest, MakesAnAddressWaitEvenWithTheRightToken) {
  const std::string right = std::string("Bearer ") + kToken;
  EXPECT_FALSE(Try(right).has_value());
  for (int i = 0; i < auth::AttemptLimit::kMaxFailures; ++i) {
    const auto refusal = Try("Bearer wrong");
    ASSERT_TRUE(refusal.has_value());
    ASSERT_EQ(refusal->status, Status::kUnauthorized);
  }
  const auto refusal = Try(right);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->status, Status::kTooManyRequests);
  EXPECT_THAT(refusal->body, StartsWith("too many failed attempts, wait "));
  EXPECT_GE(refusal->retry_after, std::chrono::seconds(1));
  EXPECT_LE(refusal->retry_after, auth::AttemptLimit::kWindow);
}

// A variable that happens to contain a short token is not a copy of the token.
TEST_F(TokenAuthTest, CallsOnlyALongTokenASecret) {
  EXPECT_EQ(auth_->secret(), kToken);
  scratch_.Write("token", "abc", 0600);
  auth_->Reload();
  EXPECT_FALSE(Try("Bearer abc").has_value());
  EXPECT_EQ(auth_->secret(), "");
}

TEST_F(TokenAuthTest, NamesTheFileOfItsSecret) {
  EXPECT_EQ(auth_->file(), config_.ws_token_file);
  Config digest;
  digest.ws_auth = "capability-token";
  digest.ws_token_sha256 = std::string(64, 'a');
  const auto made = TokenAuth::Create(digest);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ((*made)->file(), "");
}

}  // namespace
}  // namespace holdfast::exec_server
