#include "transport/peer_watch.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::transport {
namespace {

// A segment may be lost on its way now and then, even twice.
constexpr int kManyUnanswered = 3;

std::optional<tcp_info> CountersOf(int socket) {
  tcp_info counters{};
  socklen_t size = sizeof(counters);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &counters, &size) < 0) return std::nullopt;
  return counters;
}

bool HasBytesUnderWay(int socket) {
  int count = 0;
  return ::ioctl(socket, SIOCOUTQ, &count) == 0 && count > 0;
}

}  // namespace

// The first probe comes after half of the time, and two more quarters later the kernel has waited for two answers.
void SetKeepAlive(int socket, std::chrono::milliseconds timeout) {
  const int quarter_s = std::max(1, static_cast<int>(std::chrono::floor<std::chrono::seconds>(timeout / 4).count()));
  const int on = 1, idle_s = 2 * quarter_s, interval_s = quarter_s, probes = 2;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

// A peer that does not read acknowledges everything that it had room for, and answers each probe of its window.
bool IsPeerGone(const tcp_info& counters, std::chrono::milliseconds timeout) {
  if (std::chrono::milliseconds(counters.tcpi_last_ack_recv) < timeout) return false;
  const bool repeats_in_vain = counters.tcpi_unacked > 0 && counters.tcpi_retransmits >= kManyUnanswered;
  return repeats_in_vain || counters.tcpi_probes >= kManyUnanswered;
}

int UnreadBytes(int socket) {
  int count = 0;
  return ::ioctl(socket, FIONREAD, &count) == 0 ? count : 0;
}

PeerWatch::PeerWatch(loop::EventLoop& loop, int socket, loop::Callback on_gone, std::chrono::milliseconds timeout)
    : socket_(socket), timeout_(timeout), on_gone_(std::move(on_gone)), timer_(loop, [this] { Look(); }) {}

void PeerWatch::Look() {
  const auto counters = CountersOf(socket_);
  if (!counters || !HasBytesUnderWay(socket_)) return;
  if (IsPeerGone(*counters, timeout_)) return on_gone_();
  timer_.Start(interval());
}

}  // namespace holdfast::transport
