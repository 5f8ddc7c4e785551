#include "transport/peer_watch.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "transport/raw_server.h"

namespace holdfast::transport {
namespace {

TEST(PeerWatchTest, FindsAPeerGoneThatAcknowledgesNothing) {
  tcp_info counters{};
  counters.tcpi_unacked = 1;
  counters.tcpi_retransmits = 7;
  counters.tcpi_last_ack_recv = 20'000;
  EXPECT_TRUE(IsPeerGone(counters));
}

TEST(PeerWatchTest, FindsAPeerGoneThatDidNotReadAndNoLongerAnswersProbes) {
  tcp_info counters{};
  counters.tcpi_probes = 3;
  counters.tcpi_last_ack_recv = 20'000;
  EXPECT_TRUE(IsPeerGone(counters));
}

TEST(PeerWatchTest, WaitsForAPeerThatIsSilentForAShortTime) {
  tcp_info counters{};
  counters.tcpi_unacked = 1;
  counters.tcpi_retransmits = 7;
  counters.tcpi_last_ack_recv = 19'000;
  EXPECT_FALSE(IsPeerGone(counters));
}

TEST(PeerWatchTest, DoesNotMindThatNothingIsUnderWayForALongTime) {
  tcp_info counters{};
  counters.tcpi_last_ack_recv = 3'600'000;
  EXPECT_FALSE(IsPeerGone(counters));
  counters.tcpi_unacked = 1;  // sent a moment ago
  EXPECT_FALSE(IsPeerGone(counters));
}

// Returns the counters of a connection whose peer has read nothing of the bytes that fill it.
tcp_info CountersOfFullConnection(RawServer& server) {
  support::TestSocket client = support::TestSocket::Connect(server.url());
  const support::TestSocket accepted = server.Accept();
  const std::string block(1 << 16, 'x');
  while (::send(client.fd(), block.data(), block.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  tcp_info counters{};
  // The last bytes that the peer has room for are acknowledged a moment after they were sent.
  EXPECT_TRUE(support::Eventually([&] {
    socklen_t size = sizeof(counters);
    return ::getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &counters, &size) == 0 && counters.tcpi_unacked == 0;
  }));
  return counters;
}

TEST(PeerWatchTest, DoesNotMindAPeerThatDoesNotRead) {
  RawServer server;
  tcp_info counters = CountersOfFullConnection(server);
  counters.tcpi_last_ack_recv = 60'000;  // the kernel asks less and less often whether there is room again
  EXPECT_FALSE(IsPeerGone(counters));
}

}  // namespace
}  // namespace holdfast::transport
