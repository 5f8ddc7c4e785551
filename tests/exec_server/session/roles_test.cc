#include "exec_server/session/roles.h"

#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using wire::SessionRole;

TEST(RolesTest, LetsTheFirstMemberDriveAndTheNextObserve) {
  Roles roles;
  EXPECT_EQ(roles.Join(1, std::nullopt), (Roles::Joined{SessionRole::kDriver, std::nullopt}));
  EXPECT_EQ(roles.Join(2, std::nullopt), (Roles::Joined{SessionRole::kObserver, std::nullopt}));
  EXPECT_EQ(roles.RoleOf(1), SessionRole::kDriver);
  EXPECT_EQ(roles.RoleOf(2), SessionRole::kObserver);
}

TEST(RolesTest, LetsAMemberThatWantsToObserveObserveEvenIfNoOtherDrives) {
  Roles roles;
  EXPECT_EQ(roles.Join(1, SessionRole::kObserver), (Roles::Joined{SessionRole::kObserver, std::nullopt}));
  EXPECT_EQ(roles.driver(), std::nullopt);
}

TEST(RolesTest, DemotesTheDriverWhenAMemberThatWantsToDriveJoins) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  EXPECT_EQ(roles.Join(2, SessionRole::kDriver), (Roles::Joined{SessionRole::kDriver, 1}));
  EXPECT_EQ(roles.RoleOf(1), SessionRole::kObserver);
}

TEST(RolesTest, DemotesTheDriverWhenAnObserverTakesOver) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, std::nullopt);
  EXPECT_EQ(roles.TakeOver(2), Roles::Demoted(1));
  EXPECT_EQ(roles.TakeOver(1), Roles::Demoted(2));
  EXPECT_EQ(roles.driver(), Roles::Demoted(1));
}

TEST(RolesTest, DemotesNobodyWhenTheDriverTakesOver) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  EXPECT_EQ(roles.TakeOver(1), std::nullopt);
  EXPECT_EQ(roles.RoleOf(1), SessionRole::kDriver);
}

TEST(RolesTest, LeavesTheSeatEmptyWhenTheDriverLeaves) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, std::nullopt);
  EXPECT_EQ(roles.Leave(1), std::nullopt);
  EXPECT_EQ(roles.driver(), std::nullopt);
  EXPECT_EQ(roles.RoleOf(2), SessionRole::kObserver);
  EXPECT_EQ(roles.TakeOver(2), std::nullopt);
  EXPECT_EQ(roles.RoleOf(2), SessionRole::kDriver);
}

TEST(RolesTest, LetsTheNextMemberDriveWhenTheDriverHasLeft) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, std::nullopt);
  (void)roles.Leave(1);
  EXPECT_EQ(roles.Join(3, std::nullopt), (Roles::Joined{SessionRole::kDriver, std::nullopt}));
}

TEST(RolesTest, KeepsTheDriverWhenAnObserverLeaves) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, std::nullopt);
  (void)roles.Leave(2);
  EXPECT_EQ(roles.driver(), Roles::Demoted(1));
}

TEST(RolesTest, LetsTheDemotedMemberDriveAgainWhenTheDriverLeaves) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, SessionRole::kDriver);
  (void)roles.Join(3, SessionRole::kDriver);
  EXPECT_EQ(roles.Leave(3), Roles::Demoted(2));
  EXPECT_EQ(roles.RoleOf(2), SessionRole::kDriver);
  EXPECT_EQ(roles.Leave(2), Roles::Demoted(1));
  EXPECT_EQ(roles.Leave(1), std::nullopt);
}

TEST(RolesTest, ForgetsADemotedMemberThatLeaves) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, SessionRole::kDriver);
  EXPECT_EQ(roles.Leave(1), std::nullopt);
  EXPECT_EQ(roles.Leave(2), std::nullopt);
  EXPECT_EQ(roles.driver(), std::nullopt);
}

TEST(RolesTest, CountsAMemberThatTookTheSessionBackOnce) {
  Roles roles;
  (void)roles.Join(1, std::nullopt);
  (void)roles.Join(2, SessionRole::kDriver);
  (void)roles.TakeOver(1);
  EXPECT_EQ(roles.Leave(1), Roles::Demoted(2));
  EXPECT_EQ(roles.Leave(2), std::nullopt);
}

}  // namespace
}  // namespace holdfast::exec_server
