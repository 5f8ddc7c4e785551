// The Spawner starts keepers (see keeper/protocol.h), knows which of them are alive, and kills the processes that a
// killed keeper leaves behind. There is one per program, and nothing else may start children there: the spawner makes
// the program a child subreaper, and after the loss of a keeper it kills every child that it does not know.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
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
  OwnedFd control;  // the server's end, non-blocking
  // The read end of the start pipe, non-blocking. It yields a KeeperEvent of a failure, or its end when the command has
  // been executed.
  OwnedFd start;
  std::unique_ptr<Launch> launch;
};

class Spawner {
 public:
  // Fails if this machine cannot give the guarantees, because it has no /proc or no executable memory files.
  static Result<std::unique_ptr<Spawner>> Create(loop::EventLoop& loop);

  // Returns at once. StartedKeeper::start tells later how the start of the command went.
  Result<StartedKeeper> Start(const Command& command, const Io& io, StdioFds stdio);

  // Forgets a keeper that has been reaped. If `ending` is not clean, the keeper's descendants have become children of
  // the server: they are killed, and `when_gone` runs when none is left. It does not wait for ever for a process that
  // cannot be killed because it belongs to another user; the spawner looks for such processes from time to time until
  // they have ended.
  void Forget(pid_t keeper, sys::Ending ending, loop::Callback when_gone);

  // Owns an object whose keeper has yet to end, for an owner that ends before. When the keeper is gone, or the spawner
  // ends, the object is destroyed: Release does that, and must not be called from within the object's keeper.
  void Adopt(std::shared_ptr<void> object) { adopted_.push_back(std::move(object)); }
  void Release(const void* object);

  // The number of orphans of killed keepers that were still alive at the last look.
  size_t orphans() const { return orphans_; }

 private:
  static constexpr std::chrono::milliseconds kFirstOrphanDelay{2};

  // One pass over all processes, which may take several turns of the loop.
  struct OrphanLook {
    size_t found = 0, reaped = 0;
    uint64_t sum_of_pids = 0;  // of those found; a different sum means that other processes were found than before
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
  std::vector<std::shared_ptr<void>> adopted_;
  std::vector<loop::Callback> when_orphans_gone_;
  sys::raw::ProcessList processes_;  // borrows proc_
  OrphanLook look_;
  size_t orphans_ = 0;
  uint64_t sum_of_orphans_ = 0;   // the sum of their pids at the last look
  int looks_without_orphan_ = 0;  // complete looks in a row that found no orphan
  loop::Timer orphan_timer_;      // runs while the spawner looks for orphans
  std::chrono::milliseconds orphan_delay_{kFirstOrphanDelay};
  loop::Timer care_timer_;  // runs while there are keepers or orphans
};

}  // namespace holdfast::process
