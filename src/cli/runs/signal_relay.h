// The signal relay passes on to a process the signals that this program gets. In a terminal it also passes on changes
// of the window size, and it stops this program together with the process when the user types Ctrl-Z.
#pragma once

#include "cli/runs/driver.h"
#include "cli/runs/wakeup.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/signal_watch.h"
#include "loop/task.h"

namespace holdfast::cli {

class SignalRelay {
 public:
  // kPipes: Ctrl-C and Ctrl-Z arrive as signals. kTerminal: they are keys for the process.
  enum class Kind { kPipes, kTerminal };

  SignalRelay(loop::EventLoop& loop, Driver& driver, Kind kind, Wakeup& changed);
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // Returns how often the user has asked for the end, by SIGINT (Ctrl-C) or SIGTERM.
  int asked_to_end() const { return asked_to_end_; }
  int last_signal() const { return last_signal_; }  // of these two
  // Returns whether this program was continued since the last call.
  bool TakeContinued();

 private:
  void OnSignal(int signal);
  loop::Task<> PassOn(int signal);
  loop::Task<> PassOnSize();
  loop::Task<> StopTogether();

  Driver& driver_;
  Wakeup& changed_;
  int asked_to_end_ = 0, last_signal_ = 0;
  bool continued_ = false, stopping_ = false;
  loop::SignalWatch watch_;
  loop::Scope scope_;
};

// Stops this program, as Ctrl-Z does with any other one. Returns when it is continued.
void StopThisProgram();

}  // namespace holdfast::cli
