// A thread that waits in an execve, and that the supervisor traces for a moment to turn the call into another one: an
// execution of the program behind a descriptor, with the same arguments. No memory of the process is written, because a
// child of vfork shares it with its parent: the new call is made of registers alone. Its path is the empty string at
// the end of the original path.
//
// The new call is made with all signals blocked, so that no handler comes in between: a timer could otherwise put it
// off for ever. The signals come when the thread is released, as they do after an execve without a tracer.
//
// The thread stays traced until it has executed that program, so that another thread cannot make it execute another one
// in between: it stops before the first instruction, and the supervisor looks at what it executed. No function waits
// for the thread, which may also be killed at any time: a traced process that has ended is not seen by its parent
// before its tracer has seen it. So a tracee is kept and polled until it is released. The supervisor may wait for all
// of its tracees at once while one of them is about to stop.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "escalate/caller/or_errno.h"
#include "escalate/seccomp/listener.h"
#include "sys/wait_limit.h"

namespace holdfast::escalate {

class Tracee {
 public:
  // Fails with EPERM if the thread may not be traced, or is traced by a debugger. While another thread of the process
  // executes a program, the kernel lets nobody trace a thread of it, and that execution lasts until all tracers have
  // seen the ends of their threads. So no other thread of the process may be traced by this thread, or the two would
  // wait for each other. Other tracers can hold up an execution too: then this fails with EAGAIN after the limit, which
  // may be null.
  static OrErrno<Tracee> Seize(pid_t tid, pid_t process, sys::WaitLimit* limit);

  Tracee(Tracee&&) = default;
  Tracee& operator=(Tracee&&) = default;

  // Makes the thread stop when its call returns. The caller then lets the call fail with ENOSYS. Returns false if the
  // thread is not traced any more. Its number may belong to another thread then: a thread that executes a program gets
  // the number of the first thread of its process, whose end the kernel does not report to its tracer.
  bool Interrupt();

  // Tells whether the thread was interrupted or killed, so that it stops or ends as soon as the kernel runs it.
  bool is_about_to_stop() const { return state_ == State::kIsStopping; }
  // Takes the thread for one that may stop at any time or never, because it has not stopped in a reasonable time.
  void ExpectNothing();

  struct Event {
    enum class Kind {
      kNothing,   // there is nothing new
      kReturned,  // the thread has stopped because its call has returned
      kExecuted,  // the thread has executed a program, and has stopped before its first instruction
      kGone,      // the thread has ended
    } kind = Kind::kNothing;
  };
  // Looks whether the thread has stopped, and handles the stops that do not concern the supervisor.
  Event Poll();

  // Changes the call `call`, from which the thread has just returned, to an execution of the program `fd`, and lets the
  // thread go on. `path_end` is the address of the NUL that ends the path.
  OrErrno<> Redirect(const ExecCall& call, int fd, uint64_t path_end);

  // Returns what the last system call of a stopped thread has returned.
  OrErrno<int64_t> Returned() const;

  // Lets a stopped thread go on. It stays traced.
  void Continue();

  // Lets a stopped thread go on and ends tracing. Otherwise looks whether the thread has stopped or ended. Returns
  // whether tracing has ended; if not, the call is to be repeated later.
  bool Release();

  // Kills the process.
  void Kill();

  pid_t tid() const { return tid_; }
  pid_t process() const { return process_; }

 private:
  enum class State { kRuns, kIsStopping, kStopped, kStoppedByUser, kGone };

  Tracee(pid_t tid, pid_t process) : tid_(tid), process_(process) {}
  Event OnStop(int status);
  void BlockSignals();
  void UnblockSignals();

  pid_t tid_;
  pid_t process_;
  State state_ = State::kRuns;
  std::optional<uint64_t> former_mask_;  // of the thread, while its signals are blocked
};

}  // namespace holdfast::escalate
