#include "client/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;

constexpr Recovery::Time kLost{};

Recovery AfterAttempts(int attempts, const Error& error) {
  Recovery recovery({}, kLost);
  for (int i = 0; i < attempts; ++i) {
    recovery.Begin(*recovery.NextAttempt());
    recovery.OnUnreachable(error);
  }
  return recovery;
}

TEST(RecoveryTest, DialsAtOnceWhenTheConnectionIsLost) { EXPECT_EQ(Recovery({}, kLost).NextAttempt(), kLost); }

TEST(RecoveryTest, DialsEvery100MillisecondsFor25Seconds) {
  const Error refused{ErrorKind::kSystem, "connection refused"};
  EXPECT_EQ(AfterAttempts(1, refused).NextAttempt(), kLost + milliseconds(100));
  EXPECT_EQ(AfterAttempts(249, refused).NextAttempt(), kLost + milliseconds(24'900));
  EXPECT_EQ(AfterAttempts(250, refused).NextAttempt(), std::nullopt);
}

TEST(RecoveryTest, AnAttemptThatTakesLongDelaysTheNext) {
  Recovery recovery({}, kLost);
  recovery.Begin(kLost + milliseconds(700));
  recovery.OnUnreachable({ErrorKind::kTimeout, "no answer"});
  EXPECT_EQ(recovery.NextAttempt(), kLost + milliseconds(800));
}

TEST(RecoveryTest, GivesUpWithTheLastCause) {
  const Error error = AfterAttempts(250, {ErrorKind::kSystem, "connection refused"}).failure();
  EXPECT_EQ(error.kind, ErrorKind::kDisconnected);
  EXPECT_EQ(error.message, "the session is lost: no connection for 25000 ms: connection refused");
}

struct Refusal {
  Error error;
  bool asks_again;
};

class RecoveryRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RecoveryRefusalTest, AsksAgainOnlyWhileTheOldConnectionLives) {
  Recovery recovery({}, kLost);
  recovery.Begin(kLost);
  recovery.OnRefused(GetParam().error);
  EXPECT_EQ(recovery.NextAttempt().has_value(), GetParam().asks_again);
  EXPECT_THAT(recovery.failure().message, testing::HasSubstr(GetParam().error.message));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RecoveryRefusalTest,
    testing::Values(Refusal{{ErrorKind::kSessionAttached, "attached"}, true},
                    Refusal{{ErrorKind::kInvalidRequest, "session S is already attached to another connection"}, true},
                    Refusal{{ErrorKind::kInvalidRequest, "unknown session id S"}, false},
                    Refusal{{ErrorKind::kInvalidParams, "clientName: is missing"}, false},
                    Refusal{{ErrorKind::kUnknownMethod, "no such method"}, false},
                    Refusal{{ErrorKind::kSystem, "out of memory"}, false}));

TEST(RecoveryTest, WithoutTimeItDoesNotTry) {
  EXPECT_EQ(Recovery({.give_up = milliseconds(0)}, kLost).NextAttempt(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::client
