// JailWatch follows the child that a backend has started, from its start to its end. The child is bubblewrap, or pid 1
// of the sandbox. JailWatch passes signals on to the command, reads the report of the inner stage and the complaints of
// the child, and kills everything inside when the command does not end after a signal that asks for it. When AwaitEnd
// has returned, no process inside is alive, whatever ended the child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {

class JailWatch {
 public:
  struct Pipes {
    OwnedFd complaints;  // what a child that cannot build the sandbox writes
    OwnedFd report;      // the report of the inner stage
    OwnedFd lifeline;    // the outer end; the inner stage ends when it is closed
  };

  // Blocks the signals that are passed on, and SIGCHLD. Returns a signalfd for them. It is called before the child is
  // started.
  static OwnedFd BlockSignals();

  // `signals` is the descriptor that BlockSignals has returned.
  JailWatch(pid_t bubblewrap, OwnedFd signals, Pipes pipes)
      : child_(bubblewrap), signals_(std::move(signals)), pipes_(std::move(pipes)) {}

  // Follows a child that is pid 1 of the sandbox itself. Its complaint is short and its last act, so it is read when
  // pid 1 has ended, and the end of the pipe does not wake this process up in the middle of the start.
  JailWatch(sys::Child first_process, OwnedFd signals, Pipes pipes)
      : child_(first_process.pid),
        signals_(std::move(signals)),
        pipes_(std::move(pipes)),
        polls_complaints_(false),
        inner_(std::move(first_process.pidfd)) {}

  // Waits for the inner stage and returns its pidfd, or -1 when the child has ended before. The inner stage starts the
  // command only after AllowStart.
  int AwaitInner();
  void AllowStart();

  // Returns whether the inner stage has written its report already.
  bool HasReport();

  // Waits for the report of the inner stage and returns its line, or nothing when the child has ended without one.
  std::optional<std::string> AwaitReport();

  // Waits for the end of the child and returns its exit status, 128 + N after signal N.
  int AwaitEnd();

  void KillAll();

  // Returns whether there was a signal for the command, which may not have reached it.
  bool was_signalled() const { return was_signalled_; }

  // The beginning of what the child has complained about.
  const std::string& complaints() const { return complaints_; }

 private:
  using Clock = std::chrono::steady_clock;

  void Step();
  bool Reap();
  void EndInside();
  int TimeLeftMs() const;
  void ReadSignal();
  void OnSignal(int signal);
  void ReadAnnouncement();
  void SendPending();

  const pid_t child_;
  OwnedFd signals_;
  Pipes pipes_;
  const bool polls_complaints_ = true;
  OwnedFd inner_;           // a pidfd
  bool may_start_ = false;  // the inner stage was told to start the command, and takes signals for it
  std::string complaints_, report_;
  std::vector<int> pending_;  // signals that are still to be passed on
  std::optional<Clock::time_point> kill_at_;
  bool was_signalled_ = false;
  std::optional<int> ended_;
};

}  // namespace holdfast::sandbox
