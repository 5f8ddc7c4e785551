#include "exec_server/byte_budget.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;

class ByteBudgetTest : public testing::Test {
 protected:
  void TearDown() override { budget_.reset(); }

  void Take(const std::string& name, size_t bytes) {
    budget_->Take(bytes, [this, name](ByteBudget::Lease lease) {
      granted_.push_back(name);
      leases_.emplace(name, std::move(lease));
    });
  }

  void GiveBack(const std::string& name) { auto lease = leases_.extract(name); }

  std::unique_ptr<ByteBudget> budget_ = std::make_unique<ByteBudget>(100);
  std::vector<std::string> granted_;
  std::map<std::string, ByteBudget::Lease> leases_;
};

TEST_F(ByteBudgetTest, GrantsWhatIsLeftAtOnce) {
  Take("a", 60);
  Take("b", 40);
  EXPECT_THAT(granted_, ElementsAre("a", "b"));
  EXPECT_EQ(budget_->left(), 0u);
}

TEST_F(ByteBudgetTest, MakesTheRestWaitForItsTurn) {
  Take("a", 60);
  Take("b", 50);
  Take("c", 10);
  EXPECT_THAT(granted_, ElementsAre("a"));
  GiveBack("a");
  EXPECT_THAT(granted_, ElementsAre("a", "b", "c"));
  GiveBack("b");
  GiveBack("c");
  EXPECT_EQ(budget_->left(), 100u);
}

TEST_F(ByteBudgetTest, ServesWhatIsLargerThanEverythingAlone) {
  Take("a", 1);
  Take("huge", 1000);
  EXPECT_THAT(granted_, ElementsAre("a"));
  GiveBack("a");
  EXPECT_THAT(granted_, ElementsAre("a", "huge"));
  Take("b", 1);
  EXPECT_EQ(granted_.size(), 2u);
  GiveBack("huge");
  EXPECT_THAT(granted_, ElementsAre("a", "huge", "b"));
}

TEST_F(ByteBudgetTest, GoesOnWhenALeaseIsGivenBackAtOnce) {
  Take("a", 100);
  for (int i = 0; i < 1000; ++i) budget_->Take(100, [this](const ByteBudget::Lease&) { granted_.emplace_back("x"); });
  GiveBack("a");
  EXPECT_EQ(granted_.size(), 1001u);
  EXPECT_EQ(budget_->left(), 100u);
}

TEST_F(ByteBudgetTest, MayEndBeforeItsLeases) {
  Take("a", 100);
  Take("b", 100);
  budget_.reset();
  leases_.clear();
  EXPECT_THAT(granted_, ElementsAre("a"));
}

}  // namespace
}  // namespace holdfast::exec_server
