// A DeadPeerWatch notices that the machine of a TCP peer has gone without a word, as one does that loses its power or
// its network. Keepalive probes of the kernel end an idle connection, and the watch looks after one that has bytes to
// send. TCP_USER_TIMEOUT would be simpler, but it also ends the connection to a living peer that does not read for that
// long, and a relay must let such a peer pause.
#pragma once

#include <chrono>

#include "loop/event_loop.h"

struct tcp_info;

namespace holdfast::transport {

// Returns whether the peer has acknowledged nothing for that time, neither bytes nor probes of its full buffer.
bool IsDeadPeer(const tcp_info& state, std::chrono::milliseconds timeout);

class DeadPeerWatch {
 public:
  // Borrows `socket`, which must stay open while the watch is started. A socket that is not TCP is never dead.
  DeadPeerWatch(loop::EventLoop& loop, int socket, std::chrono::milliseconds timeout, loop::Callback on_dead);

  void Start();
  void Stop() { timer_.Stop(); }

 private:
  void Check();

  const int socket_;
  const std::chrono::milliseconds timeout_;
  loop::Callback on_dead_;
  loop::Timer timer_;
};

}  // namespace holdfast::transport
