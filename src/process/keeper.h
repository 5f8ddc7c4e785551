// The server's end of one keeper: orders go out, reports come in. Owns the control socket and the keeper's pidfd. It is
// destroyed after OnGone, or when the server itself ends: the closed control socket makes the keeper clean up.

#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/keeper/protocol.h"
#include "process/spawner.h"

namespace holdfast::process {

class KeeperObserver {
 public:
  virtual ~KeeperObserver() = default;
  virtual void OnStarted(pid_t pid) = 0;
  virtual void OnStartFailed(StartStep step, int errno_value) = 0;
  virtual void OnExited(int exit_code) = 0;
  // No descendant is alive; the keeper has been reaped. The last call.
  virtual void OnGone() = 0;
};

class Keeper {
 public:
  Keeper(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, KeeperObserver& observer);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // To the command's process group.
  void Signal(int signal);

  // Kills every descendant. A keeper that does not manage within a second, and the grace of a wrapped command, because
  // the command stopped it or an exec hangs, is killed itself, and the spawner takes over.
  void KillAll();

 private:
  void Order(KeeperOrder order);
  void OnStart();
  void OnReport();
  void OnEnded();
  void Dispatch(const KeeperReport& report);

  loop::EventLoop& loop_;
  Spawner& spawner_;
  KeeperObserver& observer_;
  sys::Child child_;
  OwnedFd control_;
  OwnedFd start_;                   // until the start is known
  std::unique_ptr<Launch> launch_;  // the same
  std::chrono::milliseconds kill_patience_;
  loop::FdWatch control_watch_;
  std::optional<loop::FdWatch> start_watch_;  // until the start is known
  std::optional<loop::FdWatch> end_watch_;    // from the end of the control socket on
  loop::Timer kill_timer_;
  bool has_failed_ = false;  // the start
};

}  // namespace holdfast::process
