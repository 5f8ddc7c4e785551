#include "exec_server/files/path_order.h"

#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PathOrderTest : public testing::Test {
 protected:
  void TearDown() override { order_.reset(); }

  // Starts a request, which adds its name to started_ when it gets its turn. Fails if the request is refused at once.
  Result<> Enter(std::string name, std::vector<Claim> claims) {
    refused_ = {};
    requests_.Start(Hold(std::move(name), std::move(claims)));
    return refused_;
  }

  loop::Task<> Hold(std::string name, std::vector<Claim> claims) {
    auto turn = co_await order_->Enter(std::move(claims));
    if (!turn) {
      refused_ = std::unexpected(turn.error());
      co_return;
    }
    started_.push_back(name);
    turns_.emplace(name, *std::move(turn));
  }

  // A request that ends as soon as it has its turn.
  loop::Task<> Visit(std::string name, std::vector<Claim> claims) {
    const auto turn = co_await order_->Enter(std::move(claims));
    started_.push_back(name);
  }

  loop::Task<> DestroyAtTurn(std::vector<Claim> claims) {
    const auto turn = co_await order_->Enter(std::move(claims));
    order_.reset();
  }

  void Leave(const std::string& name) { auto turn = turns_.extract(name); }
  void LeaveAll() { auto turns = std::exchange(turns_, {}); }

  static Claim Reading(std::string path) { return {std::move(path), Access::kRead}; }
  static Claim Writing(std::string path) { return {std::move(path), Access::kWrite}; }

  std::unique_ptr<PathOrder> order_ = std::make_unique<PathOrder>(PathOrder::Limits{4, 1h});
  std::vector<std::string> started_;
  std::map<std::string, PathOrder::Turn> turns_;
  Result<> refused_;
  loop::Scope requests_;
};

TEST_F(PathOrderTest, StartsWhatNothingIsInTheWayOfAtOnce) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  ASSERT_TRUE(Enter("b", {Writing("/b")}));
  EXPECT_THAT(started_, ElementsAre("a", "b"));
}

TEST_F(PathOrderTest, MakesALaterRequestForTheSamePathWait) {
  ASSERT_TRUE(Enter("write", {Writing("/a")}));
  ASSERT_TRUE(Enter("read", {Reading("/a")}));
  EXPECT_THAT(started_, ElementsAre("write"));
  Leave("write");
  EXPECT_THAT(started_, ElementsAre("write", "read"));
}

TEST_F(PathOrderTest, LetsReadersShareAPath) {
  ASSERT_TRUE(Enter("first", {Reading("/a")}));
  ASSERT_TRUE(Enter("second", {Reading("/a")}));
  ASSERT_TRUE(Enter("write", {Writing("/a")}));
  ASSERT_TRUE(Enter("third", {Reading("/a")}));
  EXPECT_THAT(started_, ElementsAre("first", "second"));
  Leave("first");
  EXPECT_THAT(started_, ElementsAre("first", "second"));
  Leave("second");
  EXPECT_THAT(started_, ElementsAre("first", "second", "write"));
  Leave("write");
  EXPECT_THAT(started_, ElementsAre("first", "second", "write", "third"));
}

TEST_F(PathOrderTest, CountsADirectoryForAllBelowIt) {
  ASSERT_TRUE(Enter("remove", {Writing("/d")}));
  ASSERT_TRUE(Enter("below", {Reading("/d/e/f")}));
  ASSERT_TRUE(Enter("beside", {Reading("/dd")}));
  EXPECT_THAT(started_, ElementsAre("remove", "beside"));
  Leave("remove");
  EXPECT_THAT(started_, ElementsAre("remove", "beside", "below"));
  ASSERT_TRUE(Enter("above", {Writing("/d")}));
  ASSERT_TRUE(Enter("root", {Writing("/")}));
  EXPECT_THAT(started_, ElementsAre("remove", "beside", "below"));
  Leave("below");
  EXPECT_EQ(started_.back(), "above");
}

TEST_F(PathOrderTest, WaitsForEachOfSeveralPaths) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  ASSERT_TRUE(Enter("b", {Writing("/b")}));
  ASSERT_TRUE(Enter("copy", {Reading("/a"), Writing("/b")}));
  Leave("a");
  EXPECT_THAT(started_, ElementsAre("a", "b"));
  Leave("b");
  EXPECT_THAT(started_, ElementsAre("a", "b", "copy"));
}

TEST_F(PathOrderTest, DoesNotLetALaterRequestOvertakeOneThatWaits) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  ASSERT_TRUE(Enter("both", {Writing("/a"), Writing("/b")}));
  ASSERT_TRUE(Enter("b", {Reading("/b")}));
  EXPECT_THAT(started_, ElementsAre("a"));
  Leave("a");
  EXPECT_THAT(started_, ElementsAre("a", "both"));
  Leave("both");
  EXPECT_THAT(started_, ElementsAre("a", "both", "b"));
}

TEST_F(PathOrderTest, RunsSoManyAtOnce) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Enter(std::to_string(i), {Reading("/a")}));
  EXPECT_THAT(started_, ElementsAre("0", "1", "2", "3"));
  Leave("2");
  Leave("0");
  EXPECT_THAT(started_, ElementsAre("0", "1", "2", "3", "4", "5"));
}

TEST_F(PathOrderTest, RefusesMoreWhenAllThatRunAreStuck) {
  order_ = std::make_unique<PathOrder>(PathOrder::Limits{2, -1ms});
  ASSERT_TRUE(Enter("1", {Reading("/a")}));
  ASSERT_TRUE(Enter("2", {Reading("/a")}));
  const auto refused = Enter("3", {Reading("/b")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
  EXPECT_THAT(refused.error().message, HasSubstr("2 file requests"));
  Leave("1");
  EXPECT_TRUE(Enter("4", {Reading("/b")}));
  EXPECT_THAT(started_, ElementsAre("1", "2", "4"));
}

TEST_F(PathOrderTest, StartsNothingWhileItIsHeld) {
  order_->Hold();
  ASSERT_TRUE(Enter("a", {Reading("/a")}));
  EXPECT_FALSE(order_->IsFree(Reading("/b")));
  EXPECT_THAT(started_, IsEmpty());
  order_->Release();
  EXPECT_THAT(started_, ElementsAre("a"));
}

TEST_F(PathOrderTest, KnowsWhetherAPathIsFree) {
  EXPECT_TRUE(order_->IsFree(Reading("/a")));
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  EXPECT_FALSE(order_->IsFree(Reading("/a")));
  EXPECT_TRUE(order_->IsFree(Reading("/b")));
  ASSERT_TRUE(Enter("waits", {Writing("/a"), Writing("/b")}));
  EXPECT_FALSE(order_->IsFree(Reading("/b")));
  LeaveAll();
  LeaveAll();
  EXPECT_TRUE(order_->IsFree(Reading("/b")));
}

TEST_F(PathOrderTest, GoesOnWhenARequestEndsAtOnce) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  for (int i = 0; i < 100; ++i) {
    requests_.Start(Visit(std::to_string(i), {Writing("/a")}));
  }
  Leave("a");
  EXPECT_EQ(started_.size(), 101u);
  EXPECT_EQ(started_.back(), "99");
}

TEST_F(PathOrderTest, DropsWhatWaitsAndOutlivesNoTurn) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  ASSERT_TRUE(Enter("b", {Writing("/a")}));
  order_.reset();
  LeaveAll();
  EXPECT_THAT(started_, ElementsAre("a"));
}

TEST_F(PathOrderTest, ForgetsARequestWhoseTaskEndsWhileItWaits) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  {
    loop::Scope short_lived;
    short_lived.Start(Visit("b", {Writing("/a"), Writing("/b")}));
    EXPECT_FALSE(order_->IsFree(Reading("/b")));
  }
  EXPECT_TRUE(order_->IsFree(Reading("/b")));
  ASSERT_TRUE(Enter("c", {Writing("/b")}));
  EXPECT_THAT(started_, ElementsAre("a", "c"));
}

TEST_F(PathOrderTest, MayBeDestroyedByWhatItStarts) {
  ASSERT_TRUE(Enter("a", {Writing("/a")}));
  requests_.Start(DestroyAtTurn({Writing("/a")}));
  ASSERT_TRUE(Enter("c", {Writing("/a")}));
  Leave("a");
  EXPECT_EQ(order_, nullptr);
  EXPECT_THAT(started_, ElementsAre("a"));
}

}  // namespace
}  // namespace holdfast::exec_server
