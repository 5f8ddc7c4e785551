// Retention keeps finished processes, so that clients can still read them: each for the same time, and all of them
// together within a bound of bytes. Because of the bound, a client that starts processes and never reads them cannot
// fill the memory. The oldest process is dropped first.
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

  // Calls `expire` once, from the loop, when the time is over or the bound is exceeded.
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
