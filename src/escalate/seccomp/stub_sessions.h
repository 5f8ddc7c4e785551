// The stub sessions of one process tree, with the threads that are traced for them. They run on the thread of the
// supervisor, which waits in the kernel for a traced thread only while that thread is about to stop, and not for long.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/errands.h"
#include "escalate/seccomp/listener.h"
#include "escalate/seccomp/stub_program.h"
#include "escalate/seccomp/stub_purpose.h"
#include "escalate/seccomp/stub_session.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "escalate/seccomp/tracee.h"
#include "sys/wait_limit.h"

namespace holdfast::escalate {

class StubSessions {
 public:
  // `judge` judges what a process has executed instead of the judged program. `errands` outlives the object.
  StubSessions(StubProgram stub, JudgeFunction judge, Errands& errands)
      : stub_(std::move(stub)), judge_(std::move(judge)), errands_(errands) {}

  // Is called on the thread that calls all other functions, before them.
  void EnterThread();
  void SetInspection(Inspection inspection) { inspection_ = inspection; }

  size_t count() const { return sessions_.size() + parked_.size(); }
  size_t held_bytes() const;

  // Turns the call of an attempt into an execution of the stub, and answers the call, at once or later. After a failure
  // the caller answers it.
  OrErrno<> Redirect(const Listener& listener, const Attempt& attempt, pid_t process, StubPurpose purpose);

  // Answers a call that a session expects, or one of a thread that is being redirected. Returns false for others.
  bool Answer(const Listener& listener, const ExecCall& call);

  // Adds what the sessions wait for. They have to be looked at after the pause; null: only after an event.
  void AddTo(std::vector<pollfd>& polled) const;
  const timespec* pause() const;
  void OnInput(int fd);

  // Looks after the traced threads. `listener` is null once no process of the tree is left.
  void LookAtTracees(const Listener* listener);

  void OnStopped(uint64_t stub, int signal, unsigned continue_count);
  void OnEnded(uint64_t stub, const Ending& ending);

 private:
  // A call that becomes an execution of the stub as soon as no other thread of its process is traced.
  struct ParkedCall {
    Attempt attempt;
    pid_t process;
    StubPurpose purpose;
  };

  OrErrno<> KeepStubIntact();
  OrErrno<> Begin(const Listener& listener, const Attempt& attempt, pid_t process, StubPurpose purpose);
  bool HasTracedThread(pid_t process) const;
  void ResumeParked(const Listener* listener);
  bool IsStopNear() const;
  void AwaitStop();
  void PollTracees();
  void CountTraced();
  void Handle(uint64_t stub, SessionEvent event);

  StubProgram stub_;
  const JudgeFunction judge_;
  Inspection inspection_ = Inspection::kPossible;
  Errands& errands_;
  std::map<uint64_t, std::unique_ptr<StubSession>> sessions_;  // by the id of the session
  uint64_t next_session_ = 1;
  std::vector<ParkedCall> parked_;
  std::vector<Tracee> leaving_;                 // threads whose tracing is about to end
  size_t traced_ = 0;                           // threads that are traced
  std::unique_ptr<sys::WaitLimit> stop_limit_;  // null if the kernel refuses it
};

}  // namespace holdfast::escalate
