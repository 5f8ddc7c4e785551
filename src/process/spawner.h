// Starts keepers (see keeper_protocol.h), knows which are alive, and takes in what a killed keeper leaves behind. One per
// program, and the only one to start children in it: it makes the program a child subreaper and kills every child it does
// not know once a keeper was lost.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <unordered_set>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command.h"
#include "sys/pidfd.h"

namespace holdfast::process {

// The descriptors a command gets as 0, 1 and 2. Borrowed for the call.
struct StdioFds {
  int in, out, err;
};

struct StartedKeeper {
  sys::Child child;
  OwnedFd control;  // our end, non-blocking
};

class Spawner {
 public:
  // Fails when this machine cannot give the guarantees: no /proc, no executable memory file.
  static Result<std::unique_ptr<Spawner>> Create(loop::EventLoop& loop);

  // Returns once the keeper has been executed, some 50 us; how the command itself starts is the keeper's report.
  Result<StartedKeeper> Start(const Command& command, const Io& io, StdioFds stdio);

  // The keeper has been reaped. `ending` other than clean means its descendants are ours: they are killed.
  void Forget(pid_t keeper, sys::Ending ending);

  // Orphans of killed keepers that are not reaped yet.
  size_t orphans() const { return orphans_.size(); }

 private:
  static constexpr std::chrono::milliseconds kFirstOrphanDelay{2};

  Spawner(loop::EventLoop& loop, OwnedFd image);

  void AdoptOrphans();
  void ReapOrphans();

  OwnedFd image_;
  std::unordered_set<pid_t> keepers_;
  std::unordered_set<pid_t> orphans_;
  loop::Timer orphan_timer_;
  std::chrono::milliseconds orphan_delay_{kFirstOrphanDelay};
};

}  // namespace holdfast::process
