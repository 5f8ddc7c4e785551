#include "rendezvous/ticket.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

const Ticket kTicket{.executor_id = "büro/\"7\"", .registration_id = "reg", .name = "name", .token_sha256 = "ab"};

TEST(TicketTest, IsOpenedWithTheKeyThatHasSealedIt) {
  const auto opened = Opened(Sealed(kTicket, "key"), "key");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*opened, kTicket);
}

TEST(TicketTest, IsNotOpenedWithAnotherKey) {
  EXPECT_FALSE(Opened(Sealed(kTicket, "key"), "kez"));
  EXPECT_FALSE(Opened(Sealed(kTicket, "key"), ""));
  EXPECT_FALSE(Opened(Sealed(kTicket, ""), ""));
}

TEST(TicketTest, NoByteOfItCanBeChanged) {
  const std::string sealed = Sealed(kTicket, "key");
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(Opened(changed, "key")) << i;
    EXPECT_FALSE(Opened(sealed.substr(0, i), "key")) << i;
  }
  EXPECT_FALSE(Opened(sealed + "A", "key"));
}

TEST(TicketTest, IsFitForAQuery) {
  EXPECT_EQ(
      Sealed(kTicket, "key").find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
      std::string::npos);
}

}  // namespace
}  // namespace holdfast::rendezvous
