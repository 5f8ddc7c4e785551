// A HangUpWatch notices that a peer has gone while the connection does not read its socket. A read would not see the
// end of the stream before the unread bytes in front of it, so the watch polls the kernel once a second. That is often
// enough for a client that reconnects to resume its session.
#pragma once

#include "loop/event_loop.h"

namespace holdfast::transport {

class HangUpWatch {
 public:
  // The sides of the stream that a peer must have closed to count as gone. With kEitherSide its sending side is enough.
  // A peer on lines may close its sending side and still wait for answers, so it needs kBothSides.
  enum class Sign { kEitherSide, kBothSides };

  // Borrows `fd`, which must stay open while the watch is started.
  HangUpWatch(loop::EventLoop& loop, int fd, Sign sign, loop::Callback on_hang_up);

  void Start();
  void Stop() { timer_.Stop(); }

  // Returns whether the peer has gone, as far as the kernel knows.
  bool hung_up() const;

 private:
  void Check();

  int fd_;
  Sign sign_;
  loop::Callback on_hang_up_;
  loop::Timer timer_;
};

}  // namespace holdfast::transport
