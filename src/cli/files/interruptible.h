// Work that the user may interrupt: by Ctrl-C, by closing the terminal, or by SIGTERM. The work is destroyed where it
// waits, so that it can tidy up, and this program goes on.
#pragma once

#include <chrono>
#include <optional>

#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"
#include "loop/task.h"

namespace holdfast::cli {

class Interruptible {
 public:
  explicit Interruptible(loop::EventLoop& loop);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // Runs the task until it ends, a signal comes or the time is over. Returns whether it has ended.
  loop::Task<bool> Run(loop::Task<> work, std::optional<std::chrono::milliseconds> limit = {});

  int signal() const { return signal_; }  // the one that came last; 0 if none has come

 private:
  loop::EventLoop& loop_;
  int signal_ = 0;
  bool came_ = false;  // a signal, since the work has begun
  loop::Event changed_;
  loop::SignalWatch watch_;
};

}  // namespace holdfast::cli
