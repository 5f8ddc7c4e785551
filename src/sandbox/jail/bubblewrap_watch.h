// Follows one bubblewrap, from its start to its end: passes signals on to the command, hears what the inner stage
// reports and what bubblewrap says on its standard error, and ends all of it when the command does not. When bubblewrap
// has ended, however that came about, nothing inside is alive.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::sandbox {

class BubblewrapWatch {
 public:
  struct Pipes {
    OwnedFd complaints;  // its standard error
    OwnedFd report;      // of the inner stage
    OwnedFd lifeline;    // to the inner stage, which ends when this is closed
  };

  // Blocks the signals that are passed on, SIGCHLD too; from before bubblewrap is started.
  static OwnedFd BlockSignals();

  // `signals` is what BlockSignals has given.
  BubblewrapWatch(pid_t bubblewrap, OwnedFd signals, Pipes pipes)
      : bubblewrap_(bubblewrap), signals_(std::move(signals)), pipes_(std::move(pipes)) {}

  // A pidfd of the inner stage, which waits for LetGo before it starts the command; -1 when all has ended without one.
  int AwaitInner();
  void LetGo();

  // The line that the inner stage reports. Nothing when all has ended without one.
  std::optional<std::string> AwaitReport();

  // The exit status, 128 + N after a signal.
  int AwaitEnd();

  void KillAll();

  // What bubblewrap has said, the beginning of it.
  const std::string& complaints() const { return complaints_; }

 private:
  using Clock = std::chrono::steady_clock;

  void Step();
  bool Reap();
  void EndInside();
  int TimeLeftMs() const;
  void ReadSignal();
  void TakeSignal(int signal);
  void ReadPresence();
  void SendPending();

  const pid_t bubblewrap_;
  OwnedFd signals_;
  Pipes pipes_;
  OwnedFd inner_;  // a pidfd
  std::string complaints_, report_;
  std::vector<int> pending_;  // signals to be passed on
  std::optional<Clock::time_point> kill_at_;
  std::optional<int> ended_;
};

}  // namespace holdfast::sandbox
