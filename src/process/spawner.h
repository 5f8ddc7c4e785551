// Starts keepers (see keeper_protocol.h), knows which are alive, and takes in what a killed keeper leaves behind. One
// per program, and the only one to start children in it: it makes the program a child subreaper and kills every child
// it does not know once a keeper was lost.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command.h"
#include "process/launch.h"
#include "sys/pidfd.h"

namespace holdfast::process {

struct StartedKeeper {
  sys::Child child;
  OwnedFd control;  // our end, non-blocking
  // In use by the child until it has reported kStarted or has been reaped.
  std::unique_ptr<Launch> launch;
};

class Spawner {
 public:
  // Fails when this machine cannot give the guarantees: no /proc, no executable memory file.
  static Result<std::unique_ptr<Spawner>> Create(loop::EventLoop& loop);

  // Returns at once; how the command starts is the keeper's report.
  Result<StartedKeeper> Start(const Command& command, const Io& io, StdioFds stdio);

  // The keeper has been reaped. `ending` other than clean means that its descendants are ours: they are killed, and
  // `when_gone` runs when none is left. It does not wait for ever for what cannot be killed, because it is another
  // user's: that is looked after from time to time, until it has ended.
  void Forget(pid_t keeper, sys::Ending ending, loop::Callback when_gone);

  // Orphans of killed keepers that are not reaped yet.
  size_t orphans() const { return orphans_.size(); }

 private:
  static constexpr std::chrono::milliseconds kFirstOrphanDelay{2};

  Spawner(loop::EventLoop& loop, OwnedFd image, rlimit file_limit);

  void AdoptOrphans();
  bool ReapOrphans();
  void LookAfter();
  void WakeStoppedKeepers();

  OwnedFd image_;
  rlimit file_limit_;  // what commands get; the program itself may open all it is allowed to
  std::unordered_set<pid_t> keepers_;
  std::unordered_set<pid_t> orphans_;
  std::vector<loop::Callback> when_orphans_gone_;
  loop::Timer orphan_timer_;
  std::chrono::milliseconds orphan_delay_{kFirstOrphanDelay};
  loop::Timer care_timer_;  // while there are keepers or orphans
};

}  // namespace holdfast::process
