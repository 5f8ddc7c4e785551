#include "loop/permit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PermitsTest : public testing::Test {
 protected:
  Permits::OnReturn Noting() {
    return [this](uint64_t id) {
      returned_.push_back(id);
      returned_on_ = std::this_thread::get_id();
    };
  }

  std::vector<uint64_t> returned_;
  std::thread::id returned_on_;
  std::optional<EventLoop> loop_{std::in_place};
};

TEST_F(PermitsTest, ComeBackWhenTheyAreDestroyed) {
  Permits permits(Noting());
  {
    Permit first = permits.Issue(1);
    const Permit second = permits.Issue(2);
    const Permit moved = std::move(first);
    EXPECT_TRUE(moved);
    EXPECT_THAT(returned_, IsEmpty());
  }
  EXPECT_THAT(returned_, ElementsAre(1, 2));
}

TEST_F(PermitsTest, ComeBackWhenAnotherTakesTheirPlace) {
  Permits permits(Noting());
  Permit permit = permits.Issue(1);
  permit = permits.Issue(2);
  EXPECT_THAT(returned_, ElementsAre(1));
  permit = {};
  EXPECT_FALSE(permit);
  EXPECT_THAT(returned_, ElementsAre(1, 2));
}

TEST_F(PermitsTest, MayOutliveTheirSource) {
  auto permits = std::make_unique<Permits>(Noting());
  Permit permit = permits->Issue(1);
  permits.reset();
  permit = {};
  EXPECT_THAT(returned_, IsEmpty());
}

TEST_F(PermitsTest, MayEndTheirSourceByComingBack) {
  std::unique_ptr<Permits> permits;
  const auto owned = std::make_shared<int>(7);
  permits = std::make_unique<Permits>([this, &permits, owned](uint64_t id) {
    permits.reset();
    returned_.push_back(id + static_cast<uint64_t>(*owned));
  });
  Permit first = permits->Issue(1), second = permits->Issue(2);
  first = {};
  second = {};
  EXPECT_THAT(returned_, ElementsAre(8));
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(PermitsTest, ComeBackOnTheLoopFromAnyThread) {
  Permits permits(*loop_, Noting());
  std::thread([permit = permits.Issue(1)] {}).join();
  Permit here = permits.Issue(2);
  here = {};
  EXPECT_THAT(returned_, IsEmpty());
  EXPECT_TRUE(support::RunUntil(*loop_, [&] { return returned_.size() == 2; }));
  EXPECT_THAT(returned_, ElementsAre(1, 2));
  EXPECT_EQ(returned_on_, std::this_thread::get_id());
}

TEST_F(PermitsTest, MayOutliveTheLoopOnAnyThread) {
  auto permits = std::make_unique<Permits>(*loop_, Noting());
  Permit permit = permits->Issue(1);
  permits.reset();
  loop_.reset();
  std::thread([moved = std::move(permit)] {}).join();
  EXPECT_THAT(returned_, IsEmpty());
}

TEST_F(PermitsTest, AreForgottenOnTheirWayWhenTheSourceEnds) {
  auto permits = std::make_unique<Permits>(*loop_, Noting());
  (void)permits->Issue(1);
  permits.reset();
  support::RunReady(*loop_);
  EXPECT_THAT(returned_, IsEmpty());
}

}  // namespace
}  // namespace holdfast::loop
