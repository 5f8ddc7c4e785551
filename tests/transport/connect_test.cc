#include "transport/connect.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "support/loop_runner.h"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr DialTime::duration kWhole = 60s;

// Tries three addresses. `answers` has the error of each attempt; an attempt without one succeeds.
class TryInTurnTest : public testing::Test {
 protected:
  Result<int> Try(std::vector<std::optional<ErrorKind>> answers) {
    answers_ = std::move(answers);
    std::vector<SocketAddress> addresses;
    for (const char* ip : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) addresses.push_back(*TcpAddress(ip, 80));
    loop::Scope scope;
    Result<int> outcome = Fail(ErrorKind::kInternal, "it does not end");
    end_ = std::chrono::steady_clock::now() + kWhole;
    scope.Start(Store(
        TryInTurn<int>(addresses, end_, [this](SocketAddress address, DialTime end) { return Attempt(address, end); }),
        outcome));
    support::RunReady(loop_);
    return outcome;
  }

  loop::Task<Result<int>> Attempt(SocketAddress address, DialTime end) {
    const auto answer = answers_.at(tried_.size());
    tried_.push_back(TextOf(address));
    shares_.push_back(end);
    if (answer) co_return Fail(*answer, "attempt " + std::to_string(tried_.size()));
    co_return static_cast<int>(tried_.size());
  }

  static loop::Task<> Store(loop::Task<Result<int>> task, Result<int>& outcome) { outcome = co_await std::move(task); }

  loop::EventLoop loop_;
  std::vector<std::optional<ErrorKind>> answers_;
  std::vector<std::string> tried_;
  std::vector<DialTime> shares_;
  DialTime end_;
};

TEST_F(TryInTurnTest, GoesOnAfterAMachineThatCannotBeReachedOrIsSilent) {
  EXPECT_EQ(Try({ErrorKind::kDisconnected, ErrorKind::kTimeout, std::nullopt}), 3);
  EXPECT_THAT(tried_, ElementsAre("192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"));
}

TEST_F(TryInTurnTest, EndsWithTheFirstSuccess) {
  EXPECT_EQ(Try({std::nullopt}), 1);
  EXPECT_EQ(tried_.size(), 1u);
}

TEST_F(TryInTurnTest, EndsWithARefusal) {
  const auto outcome = Try({ErrorKind::kDisconnected, ErrorKind::kPermissionDenied});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "attempt 2");
}

TEST_F(TryInTurnTest, ReturnsTheErrorOfTheLastMachine) {
  const auto outcome = Try({ErrorKind::kTimeout, ErrorKind::kTimeout, ErrorKind::kDisconnected});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), (Error{ErrorKind::kDisconnected, "attempt 3"}));
}

TEST_F(TryInTurnTest, LeavesTimeForTheOthers) {
  (void)Try({ErrorKind::kTimeout, ErrorKind::kTimeout, ErrorKind::kTimeout});
  ASSERT_EQ(shares_.size(), 3u);
  EXPECT_LE(shares_[0], end_ - kWhole + kWhole / 3 + 5s);  // these attempts took no time, so each share is one of more
  EXPECT_LE(shares_[1], end_ - kWhole / 2 + 5s);
  EXPECT_LE(shares_[2], end_ + 5s);
  EXPECT_GT(shares_[2], end_ - 5s);
}

}  // namespace
}  // namespace holdfast::transport
