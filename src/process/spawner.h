// Starts keepers (see keeper_protocol.h), knows which are alive, and takes in what a killed keeper leaves behind. One
// per program, and the only one to start children in it: it makes the program a child subreaper and kills every child
// it does not know once a keeper was lost.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/launch.h"
#include "process/start_slots.h"
#include "sys/pidfd.h"
#include "sys/raw_children.h"

namespace holdfast::process {

struct StartedKeeper {
  sys::Child child;
  OwnedFd control;  // our end, non-blocking
  OwnedFd start;    // non-blocking: a KeeperReport of a failure, or the end when the command has been executed
  std::unique_ptr<Launch> launch;
};

class Spawner {
 public:
  // Fails when this machine cannot give the guarantees: no /proc, no executable memory file.
  static Result<std::unique_ptr<Spawner>> Create(loop::EventLoop& loop);

  // Returns at once; how the command starts comes through StartedKeeper::start.
  Result<StartedKeeper> Start(const Command& command, const Io& io, StdioFds stdio);

  // The keeper has been reaped. `ending` other than clean means that its descendants are ours: they are killed, and
  // `when_gone` runs when none is left. It does not wait for ever for what cannot be killed, because it is another
  // user's: that is looked after from time to time, until it has ended.
  void Forget(pid_t keeper, sys::Ending ending, loop::Callback when_gone);

  // Orphans of killed keepers that were not reaped when they were last looked for.
  size_t orphans() const { return orphans_; }

 private:
  static constexpr std::chrono::milliseconds kFirstOrphanDelay{2};

  // One look at the processes, which may take several turns of the loop.
  struct OrphanLook {
    size_t found = 0, reaped = 0;
    uint64_t sum_of_pids = 0;  // of those found: tells whether they are others than before
  };

  Spawner(loop::EventLoop& loop, OwnedFd image, OwnedFd proc, std::unique_ptr<StartSlots> slots,
          const LaunchSettings& settings);

  void LookForOrphans();
  void KillOrphan(pid_t pid);
  void EndLook();
  void StopLooking();
  void LookAfter();
  void WakeStoppedKeepers();

  OwnedFd image_, proc_;
  std::unique_ptr<StartSlots> slots_;
  LaunchSettings settings_;
  std::unordered_set<pid_t> keepers_;
  std::vector<loop::Callback> when_orphans_gone_;
  sys::raw::ProcessList processes_;  // borrows proc_
  OrphanLook look_;
  size_t orphans_ = 0;
  uint64_t sum_of_orphans_ = 0;   // at the last look
  int looks_without_orphan_ = 0;  // in a row, each at all processes
  loop::Timer orphan_timer_;      // runs while orphans are looked for
  std::chrono::milliseconds orphan_delay_{kFirstOrphanDelay};
  loop::Timer care_timer_;  // while there are keepers or orphans
};

}  // namespace holdfast::process
