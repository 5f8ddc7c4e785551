// Notices that a peer has gone while its socket is not read. The end of a stream hides behind bytes nobody reads, so
// the kernel is asked for it, once a second: often enough for a client that comes back to resume its session.
#pragma once

#include "loop/event_loop.h"

namespace holdfast::transport {

class HangUpWatch {
 public:
  // What counts as gone. A peer on lines may close its sending side and still wait for answers.
  enum class Sign { kEitherSide, kBothSides };

  // Borrows `fd`, which must outlive the watching.
  HangUpWatch(loop::EventLoop& loop, int fd, Sign sign, loop::Callback on_hang_up);

  void Start();
  void Stop() { timer_.Stop(); }

 private:
  void Check();

  int fd_;
  Sign sign_;
  loop::Callback on_hang_up_;
  loop::Timer timer_;
};

}  // namespace holdfast::transport
