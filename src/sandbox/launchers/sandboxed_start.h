// A SandboxedStart starts one command or one file helper in a sandbox, and then watches over it: it is the only way in
// for a server. A worker makes the plan, a jail starts the command if one can, and otherwise the helper does, which is
// the long way. A command that the jail has not started, because it was lost, takes the long way too; its client does
// not notice.
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

class SandboxedStart final : public process::CommandWatch, private process::CommandObserver {
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
    std::optional<process::Command> command;  // absent: the file helper (files/helper/helper_main.h)
    SandboxSpec sandbox;
    process::Io io = process::Pipes();
    // As in WrapOptions.
    std::shared_ptr<const OwnedFd> exec_supervisor = {};
    std::optional<KeptDescriptor> kept = {};
  };

  // Returns the start of a process.
  static process::WatchedStart Of(const Resources& resources, Request request);

  // The streams of the command, as it gets them.
  struct Streams {
    OwnedFd in, out, err;
  };

  // Starts the command. An error means that nothing was started.
  static Result<std::unique_ptr<process::CommandWatch>> Begin(const Resources& resources, Request request,
                                                              Streams streams, process::CommandObserver& observer);

  void Signal(int signal) override;
  void KillAll() override;

 private:
  SandboxedStart(const Resources& resources, Request request, Streams streams, process::CommandObserver& observer);
  EntryRequest Wanted() const;
  loop::Task<> Plan();
  Result<> Launch(const PlannedEntry& planned);
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
  Streams streams_;
  std::vector<int> signals_;               // each signal that was sent before the start, once
  std::optional<Launchers::Id> launcher_;  // the launcher that was asked

  std::unique_ptr<process::CommandWatch> watch_;  // null while the plan is made
  bool killed_ = false;
  loop::Timer gone_timer_;  // tells of the end of a command that was killed before there was a watch
  loop::Scope planning_;
};

}  // namespace holdfast::sandbox
