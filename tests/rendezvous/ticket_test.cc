#include "rendezvous/ticket.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

const Ticket kTicket{.executor_id = "büro/\"7\"", .registration_id = "reg", .name = "name", .token_sha256 = "ab"};

TEST(TicketTest, IsVerifiedWithTheKeyThatHasSignedIt) {
  const auto verified = Verified(Signed(kTicket, "key"), "key");
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(*verified, kTicket);
}

TEST(TicketTest, IsNotOpenedWithAnotherKey) {
  EXPECT_FALSE(Verified(Signed(kTicket, "key"), "kez"));
  EXPECT_FALSE(Verified(Signed(kTicket, "key"), ""));
  EXPECT_FALSE(Verified(Signed(kTicket, ""), ""));
}

TEST(TicketTest, NoByteOfItCanBeChanged) {
  const std::string signed_text = Signed(kTicket, "key");
  for (size_t i = 0; i < signed_text.size(); ++i) {
    std::string changed = signed_text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(Verified(changed, "key")) << i;
    EXPECT_FALSE(Verified(signed_text.substr(0, i), "key")) << i;
  }
  EXPECT_FALSE(Verified(signed_text + "A", "key"));
}

TEST(TicketTest, IsFitForAQuery) {
  EXPECT_EQ(
      Signed(kTicket, "key").find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
      std::string::npos);
}

}  // namespace
}  // namespace holdfast::rendezvous
