// A Supervision decides about every execve of one process tree, by seccomp user notification. The helper installs the
// filter in the command's process and passes the listener through the supervision's socket. A thread of its own, one
// for each tree, answers the notifications: what it reads is the memory of processes that are not trusted, and a tree
// that makes it wait makes only itself wait. Questions and commands outside belong to the loop's thread.
//
//   Run         the execve goes on. After a question, and always with Strictness::kStrict, a stub runs exactly what was
//               judged; otherwise another thread of the caller could change the path after the decision.
//   Escalate    the execve becomes an execution of the stub, and an OutsideCommand runs in its place.
//   Deny        the execve becomes an execution of the stub, which writes the reason and exits with 1.
#pragma once

#include <memory>

#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/approver.h"
#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "exec_policy/judge.h"
#include "exec_policy/policy.h"
#include "loop/event_loop.h"
#include "process/command/environment.h"
#include "process/spawner.h"

namespace holdfast::escalate {

class LoopErrands;

struct SupervisionOptions {
  std::shared_ptr<const exec_policy::Policy> policy;
  exec_policy::ProgramNames names = exec_policy::ProgramNames::kResolvedPath;
  Strictness strictness = Strictness::kUsual;
  FirstExec first = FirstExec::kJudged;
  process::Environment environment = {};  // of the supervised command
};

class Supervision {
 public:
  // `approver`, `loop` and `spawner` outlive the supervision.
  static Result<std::unique_ptr<Supervision>> Create(loop::EventLoop& loop, process::Spawner& spawner,
                                                     Approver& approver, SupervisionOptions options);
  // Does the same with any judge, and any way to start commands outside. Fails with kLimit if the threads of many
  // earlier supervisions are stuck.
  static Result<std::unique_ptr<Supervision>> Create(loop::EventLoop& loop, Approver& approver, StartOutside start,
                                                     SupervisorSettings settings);
  // Kills the commands outside. Every later execve of the tree fails with ENOSYS. The destructor waits a tenth of a
  // second at most for the end of the thread. A thread that is stuck in a system call, by a dead mount for example, is
  // left behind: it owns what it uses, has no more effect on the loop, and ends by itself.
  ~Supervision();
  Supervision(const Supervision&) = delete;
  Supervision& operator=(const Supervision&) = delete;

  // The socket that the helper passes the listener through (sandbox/helper_command/sandbox_program.h).
  const std::shared_ptr<const OwnedFd>& helper_socket() const { return helper_socket_; }

 private:
  struct Shared;  // with the thread

  Supervision(std::shared_ptr<Shared> shared, std::shared_ptr<LoopErrands> errands,
              std::shared_ptr<const OwnedFd> helper_socket);

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<LoopErrands> errands_;
  const std::shared_ptr<const OwnedFd> helper_socket_;
};

}  // namespace holdfast::escalate
