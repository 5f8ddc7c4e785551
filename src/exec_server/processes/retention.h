// Retention keeps finished processes, so that clients can still read them: those of private sessions for a certain
// time, those of shared sessions until the session ends, and all of them together within a bound of bytes. Because of
// the bound, a client that starts processes and never reads them cannot fill the memory. The oldest process is dropped
// first.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "exec_server/processes/heap_trim.h"
#include "loop/event_loop.h"
#include "loop/permit.h"

namespace holdfast::exec_server {

class Retention {
 public:
  Retention(loop::EventLoop& loop, HeapTrim& heap, std::chrono::milliseconds period, size_t max_bytes);

  // Calls `expire` once, from the loop, when the time is over or the bound is exceeded.
  void Keep(size_t bytes, loop::Callback expire);
  // Calls `expire` once, from the loop, when the bound is exceeded, unless the permit is destroyed before.
  [[nodiscard]] loop::Permit KeepWhileHeld(size_t bytes, loop::Callback expire);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    uint64_t number;  // a lower number is older
    size_t bytes;
    loop::Callback expire;
    Clock::time_point until;
  };

  void Count(size_t bytes);
  void ExpireDue();
  void Expire(Kept kept);
  void ExpireOldest();
  void Release(uint64_t number);

  HeapTrim& heap_;
  std::chrono::milliseconds period_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t next_number_ = 0;
  std::deque<Kept> kept_;
  std::map<uint64_t, Kept> held_;  // by number; these have no time limit
  loop::Timer timer_;
  loop::Permits permits_;
};

}  // namespace holdfast::exec_server
