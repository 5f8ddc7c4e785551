// A stub session is one execve that became an execution of the stub, from the redirection to the stub's end. It runs on
// the supervisor's thread.
//
// Every call of execve that belongs to the session is recognised by the thread, by what the session expects from it,
// and by the fact that the thread is traced or its process has not ended: no other process can make such a call.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/owned_fd.h"
#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/errands.h"
#include "escalate/seccomp/listener.h"
#include "escalate/seccomp/stub_program.h"
#include "escalate/seccomp/stub_purpose.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "escalate/seccomp/tracee.h"
#include "sys/wait_limit.h"

namespace holdfast::escalate {

struct ProcessState;

enum class SessionEvent {
  kNothing,
  kWentOn,    // the traced thread had stopped, and goes on
  kExecuted,  // the traced thread has executed a program
  kOver,
};

class StubSession {
 public:
  // Redirects the call of an attempt, and answers it. `tracee` is the thread that makes the call, and `stub` a
  // descriptor of the stub's image.
  static std::unique_ptr<StubSession> Begin(const Listener& listener, const Attempt& attempt, Tracee tracee, int stub,
                                            uint64_t id, StubPurpose purpose);

  uint64_t id() const { return id_; }
  size_t held_bytes() const { return held_bytes_; }
  bool is_traced() const { return tracee_.has_value(); }
  // Tells whether the traced thread stops or ends as soon as the kernel runs it (tracee.h).
  bool is_about_to_stop() const { return tracee_ && tracee_->is_about_to_stop(); }
  void ExpectNothing() {
    if (tracee_) tracee_->ExpectNothing();
  }
  pid_t traced_thread() const { return tracee_ ? tracee_->tid() : 0; }
  pid_t process() const { return process_; }

  // Looks what the traced thread does.
  SessionEvent PollTracee();
  // Ends the tracing of a process that has just executed a program, and kills it unless the program is the stub, or the
  // one that was judged.
  SessionEvent OnExecuted(const StubProgram& stub, Inspection inspection, const JudgeFunction& judge);
  // A session that is over may still trace a thread, which then has to be released.
  Tracee TakeTracee();

  // Tells whether a thread that has the number of the traced one, and waits in a call, is that thread. If it is, it
  // stops when its call returns.
  bool StillTraces() { return tracee_->Interrupt(); }

  // Each function returns whether a call is the one that the session expects.
  bool IsRedirected(const ExecCall& call) const;
  bool IsHello(const ExecCall& call) const;
  bool IsRun(const ExecCall& call) const;

  void LetExecute(const Listener& listener, const ExecCall& call);
  SessionEvent Greet(const Listener& listener, const ExecCall& call);
  // Lets the judged program be executed. The limit is that of Tracee::Seize.
  SessionEvent LetRun(const Listener& listener, const ExecCall& call, Inspection inspection, sys::WaitLimit* limit);

  // The descriptor to poll for input: the control socket or, before the stub has it, the process itself; -1 while the
  // thread is traced.
  int poll_fd() const;
  SessionEvent OnInput(Errands& errands);

  void OnStopped(int signal, unsigned continue_count);
  SessionEvent OnEnded(const Ending& ending);

 private:
  enum class State {
    kStopping,    // the call was refused with ENOSYS, and its thread is about to stop
    kRedirected,  // the thread is about to execute the stub
    kExecuting,   // the execution of the stub was let through
    kStarted,     // the stub runs, and is about to ask for its control socket
    kRuns,        // the stub has the order to execute the judged program
    kBecomes,     // the execution of the judged program was let through, and the process is traced
    kGetsReady,   // the stub has the order to stand in for a command outside
    kStandsIn,    // the command outside was started
    kEnds,        // the stub has the order to end as the command outside has ended
    kLeaving,     // the redirection has failed
  };

  StubSession(uint64_t id, const Attempt& attempt, Tracee tracee, StubPurpose purpose);
  SessionEvent OnReturned();
  SessionEvent OnBecame(const JudgeFunction& judge);
  SessionEvent GiveFirstOrder();
  SessionEvent OnReady(const ProcessState& state, Errands& errands);
  bool IsAlive() const;

  const uint64_t id_;
  const ExecCall call_;
  const uint64_t path_end_;
  StubPurpose purpose_;
  const size_t held_bytes_;
  State state_ = State::kStopping;
  std::optional<Tracee> tracee_;
  const pid_t process_;
  int stub_number_ = -1;  // of the stub's image in the calling process
  OwnedFd pidfd_, control_;
  int control_number_ = -1;  // of the control socket in the stub
};

}  // namespace holdfast::escalate
