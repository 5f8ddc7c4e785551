#include "transport/dead_peer_watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace holdfast::transport {
namespace {

// The attempts without an answer that make a peer suspicious. A connection that was idle for long has had no answer for
// long either, at the moment when it sends again.
constexpr int kSuspiciousAttempts = 3;
constexpr int kProbes = 3;

void SetKeepalive(int socket, std::chrono::milliseconds timeout) {
  const int on = 1, probes = kProbes;
  const auto seconds = static_cast<int>(timeout.count() / 1000);
  const int idle_s = std::max(seconds / 2, 1), interval_s = std::max(seconds / (2 * kProbes), 1);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

}  // namespace

bool IsDeadPeer(const tcp_info& state, std::chrono::milliseconds timeout) {
  const int attempts = std::max<int>(state.tcpi_retransmits, state.tcpi_probes);
  return attempts >= kSuspiciousAttempts && std::chrono::milliseconds(state.tcpi_last_ack_recv) >= timeout;
}

DeadPeerWatch::DeadPeerWatch(loop::EventLoop& loop, int socket, std::chrono::milliseconds timeout,
                             loop::Callback on_dead)
    : socket_(socket), timeout_(timeout), on_dead_(std::move(on_dead)), timer_(loop, [this] { Check(); }) {}

void DeadPeerWatch::Start() {
  SetKeepalive(socket_, timeout_);
  timer_.Start(timeout_ / 4);
}

void DeadPeerWatch::Check() {
  tcp_info state{};
  socklen_t size = sizeof(state);
  if (::getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &state, &size) != 0) return;
  if (IsDeadPeer(state, timeout_)) return on_dead_();
  timer_.Start(timeout_ / 4);
}

}  // namespace holdfast::transport
