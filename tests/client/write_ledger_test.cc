#include "client/write_ledger.h"

#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

TEST(WriteLedgerTest, NumbersWritesInTheirOrder) {
  WriteLedger ledger;
  EXPECT_EQ(ledger.Add(1)->id, 1U);
  EXPECT_EQ(ledger.Add(1)->id, 2U);
}

TEST(WriteLedgerTest, NeverUsesAnIdAgain) {
  WriteLedger ledger;
  ledger.Remove(ledger.Add(1));
  EXPECT_EQ(ledger.Add(1)->id, 2U);
}

TEST(WriteLedgerTest, SendsAWriteBehindThoseBeforeIt) {
  WriteLedger ledger;
  const auto first = ledger.Add(1);
  const auto second = ledger.Add(1);
  EXPECT_TRUE(ledger.MaySend(first, 1));
  EXPECT_FALSE(ledger.MaySend(second, 1));
  ledger.MarkSent(first, 1);
  EXPECT_TRUE(ledger.MaySend(second, 1));
}

TEST(WriteLedgerTest, SendsUnansweredWritesAgainInTheirOrder) {
  WriteLedger ledger;
  const auto first = ledger.Add(1);
  const auto second = ledger.Add(1);
  const auto third = ledger.Add(1);
  ledger.MarkSent(first, 1);
  ledger.MarkSent(second, 1);
  ledger.Remove(first);  // answered before the connection was lost
  EXPECT_FALSE(ledger.MaySend(third, 2));
  EXPECT_TRUE(ledger.MaySend(second, 2));
  EXPECT_EQ(second->id, 2U);
  ledger.MarkSent(second, 2);
  EXPECT_TRUE(ledger.MaySend(third, 2));
}

TEST(WriteLedgerTest, AWriteThatIsGivenUpHoldsUpNoOther) {
  WriteLedger ledger;
  const auto first = ledger.Add(1);
  const auto second = ledger.Add(1);
  ledger.Remove(first);
  EXPECT_TRUE(ledger.MaySend(second, 1));
}

TEST(WriteLedgerTest, CountsUnansweredBytes) {
  WriteLedger ledger;
  const auto first = ledger.Add(10);
  (void)ledger.Add(5);
  EXPECT_EQ(ledger.unanswered_bytes(), 15U);
  ledger.Remove(first);
  EXPECT_EQ(ledger.unanswered_bytes(), 5U);
  EXPECT_EQ(ledger.unanswered(), 1U);
}

}  // namespace
}  // namespace holdfast::client
