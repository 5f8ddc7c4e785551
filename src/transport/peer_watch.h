// A PeerWatch notices that the machine at the other end of a TCP connection has gone without a word, as a machine does
// that loses its power or its network. On a connection where nothing is under way the kernel notices it by itself
// (SetKeepAlive). While bytes are under way, the watch looks at the kernel's counters from time to time.
// TCP_USER_TIMEOUT would be simpler, but it also ends a connection whose peer is alive and only does not read, which is
// what back-pressure looks like.
#pragma once

#include <netinet/tcp.h>

#include <chrono>

#include "loop/event_loop.h"

namespace holdfast::transport {

// The time after which a peer that acknowledges nothing counts as gone.
inline constexpr std::chrono::milliseconds kPeerTimeout{20'000};

// Lets the kernel end a TCP connection on which nothing is under way, `timeout` after its peer has gone. The kernel
// counts in seconds, so the time is rounded down to a multiple of four seconds; it is at least four.
void SetKeepAlive(int socket, std::chrono::milliseconds timeout = kPeerTimeout);

// Decides by the counters of a connection.
bool IsPeerGone(const tcp_info& counters, std::chrono::milliseconds timeout = kPeerTimeout);

// Returns the number of bytes that have arrived on a socket and were not read.
int UnreadBytes(int socket);

class PeerWatch {
 public:
  // `socket` is borrowed. A socket that is not one of TCP is never found to be without its peer.
  PeerWatch(loop::EventLoop& loop, int socket, loop::Callback on_gone,
            std::chrono::milliseconds timeout = kPeerTimeout);

  // Bytes were written to the socket. The watch goes on until all of them are acknowledged.
  void OnWritten() {
    if (!timer_.running()) timer_.Start(interval());
  }
  void Stop() { timer_.Stop(); }

 private:
  std::chrono::milliseconds interval() const { return timeout_ / 4; }
  void Look();

  const int socket_;
  const std::chrono::milliseconds timeout_;
  loop::Callback on_gone_;
  loop::Timer timer_;
};

}  // namespace holdfast::transport
