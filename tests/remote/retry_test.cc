#include "remote/retry.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

using testing::ElementsAre;
using Kind = RegistryFailure::Kind;

std::vector<int64_t> Pauses(BackOff& back_off, size_t count, uint64_t random = 0) {
  std::vector<int64_t> pauses;
  for (size_t i = 0; i < count; ++i) pauses.push_back(back_off.Next(random).count());
  return pauses;
}

TEST(BackOffTest, DoublesFromOneSecondToThirty) {
  BackOff back_off(Form::kExecutor);
  EXPECT_THAT(Pauses(back_off, 7, 12345), ElementsAre(1000, 2000, 4000, 8000, 16'000, 30'000, 30'000));
}

TEST(BackOffTest, BeginsAgainAfterAConnection) {
  BackOff back_off(Form::kExecutor);
  (void)Pauses(back_off, 4);
  back_off.Reset();
  EXPECT_THAT(Pauses(back_off, 2), ElementsAre(1000, 2000));
}

TEST(BackOffTest, ADirectExecutorWaitsHalfOfItAtLeast) {
  BackOff back_off(Form::kDirect);
  EXPECT_THAT(Pauses(back_off, 7, 0), ElementsAre(500, 1000, 2000, 4000, 8000, 15'000, 15'000));
}

TEST(BackOffTest, ADirectExecutorWaitsAllOfItAtMost) {
  BackOff back_off(Form::kDirect);
  EXPECT_EQ(back_off.Next(500).count(), 1000);
  EXPECT_EQ(back_off.Next(1000).count(), 2000);
  EXPECT_EQ(back_off.Next(2001).count(), 2000);  // the remainder begins again
}

TEST(RetryTest, EveryFailureOfARegistrationIsFatalExceptAnAbsenceOfAManyRegistry) {
  const Registration one{.registration_id = {}, .id = {}, .url = {}};
  Registration many = one;
  many.connections = Connections::kMany;
  const struct {
    Kind kind;
    std::optional<Registration> before;
    Verdict verdict;
  } cases[] = {
      {Kind::kRefused, std::nullopt, Verdict::kFatal}, {Kind::kUnavailable, std::nullopt, Verdict::kFatal},
      {Kind::kRefused, one, Verdict::kFatal},          {Kind::kUnavailable, one, Verdict::kFatal},
      {Kind::kRefused, many, Verdict::kFatal},         {Kind::kUnavailable, many, Verdict::kRetry},
  };
  for (const auto& each : cases) EXPECT_EQ(Judge({each.kind, ""}, each.before), each.verdict);
}

TEST(RetryTest, OnlyA403OfADirectRendezvousIsFatal) {
  EXPECT_EQ(JudgeConnect(Form::kDirect, 403), Verdict::kFatal);
  for (const unsigned status : {404u, 500u, 503u}) {
    EXPECT_EQ(JudgeConnect(Form::kDirect, status), Verdict::kRetry) << status;
  }
  EXPECT_EQ(JudgeConnect(Form::kDirect, std::nullopt), Verdict::kRetry);
  EXPECT_EQ(JudgeConnect(Form::kExecutor, 403), Verdict::kRetry);
  EXPECT_EQ(JudgeConnect(Form::kExecutor, 401), Verdict::kRetry);
}

TEST(RetryTest, ADirectExecutorRegistersAgainWhenItsUrlIsNotRecognized) {
  EXPECT_EQ(JudgeConnect(Form::kDirect, 401), Verdict::kRegisterAgain);
}

}  // namespace
}  // namespace holdfast::remote
