#include "transport/dead_peer_watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;

tcp_info State(uint8_t retransmits, uint8_t probes, uint32_t last_answer_ms) {
  tcp_info state{};
  state.tcpi_retransmits = retransmits;
  state.tcpi_probes = probes;
  state.tcpi_last_ack_recv = last_answer_ms;
  return state;
}

TEST(DeadPeerWatchTest, TakesAPeerForDeadThatAcknowledgesNothing) {
  EXPECT_TRUE(IsDeadPeer(State(5, 0, 20'000), 20s));
  EXPECT_FALSE(IsDeadPeer(State(5, 0, 19'999), 20s));
}

TEST(DeadPeerWatchTest, TakesAPeerForDeadWhoseFullBufferAnswersNoProbes) {
  EXPECT_TRUE(IsDeadPeer(State(0, 3, 60'000), 20s));
  EXPECT_FALSE(IsDeadPeer(State(0, 1, 60'000), 20s));  // probes of a buffer that stays full become rare
}

TEST(DeadPeerWatchTest, DoesNotTakeAnIdlePeerForDead) { EXPECT_FALSE(IsDeadPeer(State(0, 0, 3'600'000), 20s)); }

}  // namespace
}  // namespace holdfast::transport
