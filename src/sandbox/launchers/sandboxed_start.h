// A SandboxedStart starts one command in a sandbox, and then watches over it. A worker makes the plan of the command, a
// launcher starts the command if one can, and otherwise the helper does, which is the long way. A command that the
// launcher has not started, because it was lost, takes the long way too; its client does not notice.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "process/command/command.h"
#include "process/command_watch.h"
#include "process/launched_sandbox.h"
#include "process/spawner.h"
#include "process/watched_start.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/launchers.h"
#include "sandbox/launchers/planned_entry.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

class SandboxedStart final : public process::CommandWatch, private process::LaunchObserver {
 public:
  // All that is referred to outlives the start.
  struct Resources {
    loop::EventLoop& loop;
    process::Spawner& spawner;
    loop::WorkerPool& workers;
    const SandboxProgram& program;
    Launchers& launchers;
    std::shared_ptr<WalkMemory> memory;  // of the plans of all commands; workers that are stuck share it
  };
  struct Request {
    std::string session_id;
    process::Command command;
    SandboxSpec sandbox;  // one that the launchers serve
    process::Io io;
    std::shared_ptr<const OwnedFd> exec_supervisor = {};  // as in WrapOptions
  };

  // Returns the start of a process.
  static process::WatchedStart Of(const Resources& resources, Request request);

  void Signal(int signal) override;
  void KillAll() override;

 private:
  struct ChildStreams {
    OwnedFd in, out, err;
  };

  SandboxedStart(const Resources& resources, Request request, ChildStreams streams, process::CommandObserver& observer);
  loop::Task<> Plan();
  Result<> Launch(PlannedEntry planned);
  void GoTheLongWay();
  Result<> StartHelper();
  void Watch(std::unique_ptr<process::CommandWatch> watch);

  void OnStarted(pid_t pid) override;
  void OnStartFailed(process::StartStep step, int errno_value) override { observer_.OnStartFailed(step, errno_value); }
  void OnReport(const Result<process::Enforcement>& outcome) override { observer_.OnReport(outcome); }
  void OnExited(int wait_status) override { observer_.OnExited(wait_status); }
  void OnGone() override { observer_.OnGone(); }
  void OnNotLaunched() override;

  const Resources resources_;
  process::CommandObserver& observer_;
  // These members are needed until the start is known.
  std::optional<Request> request_;
  ChildStreams streams_;
  std::vector<int> signals_;               // each signal that was sent before the start, once
  std::optional<Launchers::Id> launcher_;  // the launcher that was asked

  std::unique_ptr<process::CommandWatch> watch_;  // null while the plan is made
  bool killed_ = false;
  loop::Timer gone_timer_;  // tells of the end of a command that was killed before there was a watch
  loop::Scope planning_;
};

}  // namespace holdfast::sandbox
