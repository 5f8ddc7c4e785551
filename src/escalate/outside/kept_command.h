// A KeptCommand is a command outside together with its keeper. It outlives its OutsideCommand: after Abandon, the
// spawner owns it until no process of the command is left.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/outside/outside_observer.h"
#include "loop/event_loop.h"
#include "process/keeper.h"
#include "process/spawner.h"

namespace holdfast::escalate {

class KeptCommand final : public std::enable_shared_from_this<KeptCommand>, private process::CommandObserver {
 public:
  // `starter` is the server's end of the starter's socket.
  KeptCommand(loop::EventLoop& loop, process::Spawner& spawner, process::StartedKeeper started, OwnedFd starter,
              OutsideObserver& observer);

  void Signal(int signal);

  // Kills everything. There are no further calls of the observer.
  void Abandon();

 private:
  void OnStarted(pid_t) override {}
  void OnStartFailed(process::StartStep step, int errno_value) override;
  void OnStopped(int signal, unsigned continue_count) override;
  void OnExited(int wait_status) override;
  void OnGone() override;
  void OnSignalsInPlace();
  void End(const Ending& ending);
  void PostRelease();

  loop::EventLoop& loop_;
  process::Spawner& spawner_;
  OutsideObserver* observer_;  // null after its last call
  OwnedFd starter_;
  std::optional<loop::FdWatch> starter_watch_;  // present until the command's signal mask is in place
  std::vector<int> waiting_signals_;            // empty from then on
  process::Keeper keeper_;
  bool is_gone_ = false, is_abandoned_ = false;
};

}  // namespace holdfast::escalate
