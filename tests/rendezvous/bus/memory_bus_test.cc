// The bus of a node that is alone.
#include "rendezvous/bus/memory_bus.h"

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

TEST(MemoryBusTest, HasAKeyOfItsOwn) {
  const auto bus = MakeMemoryBus(), another = MakeMemoryBus();
  EXPECT_GE(bus->ticket_key().size(), 32u);
  EXPECT_NE(bus->ticket_key(), another->ticket_key());
  EXPECT_TRUE(bus->connected());
}

}  // namespace
}  // namespace holdfast::rendezvous
