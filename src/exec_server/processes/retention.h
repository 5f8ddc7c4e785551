// Finished processes that can still be read: each for the same time, and all together within a bound of bytes, so that
// a client who starts and forgets cannot fill the memory. The oldest goes first.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "exec_server/processes/heap_trim.h"
#include "loop/event_loop.h"

namespace holdfast::exec_server {

class Retention {
 public:
  Retention(loop::EventLoop& loop, HeapTrim& heap, std::chrono::milliseconds period, size_t max_bytes);

  // `expire` runs once, from the loop, when the time or the room is up.
  void Keep(size_t bytes, loop::Callback expire);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    Clock::time_point until;
    size_t bytes;
    loop::Callback expire;
  };

  void ExpireDue();

  HeapTrim& heap_;
  std::chrono::milliseconds period_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  std::deque<Kept> kept_;
  loop::Timer timer_;
};

}  // namespace holdfast::exec_server
