// A Keeper is the server's end of one keeper: it sends instructions and receives events. It owns the control socket and
// the keeper's pidfd. It is destroyed after OnGone, or when the server itself ends; the closed control socket then
// makes the keeper kill everything.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "loop/event_loop.h"
#include "process/command_watch.h"
#include "process/keeper/protocol.h"
#include "process/spawner.h"

namespace holdfast::process {

class Keeper final : public CommandWatch {
 public:
  Keeper(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, CommandObserver& observer);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  void Signal(int signal) override;

  // A keeper may fail to kill every descendant, because the command has stopped it or an exec hangs. If it has
  // not ended after a second and the grace of a wrapped command, it is killed itself, and the spawner kills the
  // descendants.
  void KillAll() override;

 private:
  void Send(KeeperInstruction instruction);
  void OnStart();
  void OnEvent();
  void OnEnded();
  void Dispatch(const KeeperEvent& event);

  loop::EventLoop& loop_;
  Spawner& spawner_;
  CommandObserver& observer_;
  sys::Child child_;
  OwnedFd control_;
  OwnedFd start_;                   // held until it is known how the start went
  std::unique_ptr<Launch> launch_;  // like start_
  std::chrono::milliseconds kill_patience_;
  loop::FdWatch control_watch_;
  std::optional<loop::FdWatch> start_watch_;  // like start_
  std::optional<loop::FdWatch> end_watch_;    // present once the control socket has ended
  loop::Timer kill_timer_;
  bool has_failed_ = false;  // the start has failed
};

}  // namespace holdfast::process
