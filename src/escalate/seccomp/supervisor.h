// The supervisor of one process tree. It receives the listener from the helper, and then answers every execve of the
// tree. It runs on a thread of its own and waits in its poll: a question, a command outside or a process that does not
// go on only delays what depends on it. It waits in the kernel for a traced thread only while that thread is about to
// stop, and not for long.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/errands.h"
#include "escalate/seccomp/inbox.h"
#include "escalate/seccomp/listener.h"
#include "escalate/seccomp/stub_program.h"
#include "escalate/seccomp/stub_session.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "exec_policy/judge.h"
#include "sys/wait_limit.h"

namespace holdfast::escalate {

class Supervisor {
 public:
  // `helper` is the socket that the listener comes from, `stub` the program of the stub. `inbox` and `errands` outlive
  // the supervisor.
  Supervisor(SupervisorSettings settings, OwnedFd helper, StubProgram stub, Inbox& inbox, Errands& errands);

  // Returns when the inbox is closed.
  void Run();

 private:
  // A call that waits for the answer to a question.
  struct OpenQuestion {
    Attempt attempt;
    ProgramLook program;
    pid_t process;
    OwnedFd thread;  // a pidfd, readable once the asking thread has ended
  };

  // A call that becomes an execution of the stub as soon as no other thread of its process is traced.
  struct ParkedCall {
    Attempt attempt;
    pid_t process;
    StubPurpose purpose;
  };

  void Poll();
  void OnHelper();
  void OnCall();
  void OnInput(int fd);
  bool OnInbox();
  void OnMessage(const Answered& message);
  void OnMessage(const CommandStopped& message);
  void OnMessage(const CommandEnded& message);

  bool BelongsToStub(const ExecCall& call);
  void Decide(const ExecCall& call);
  void DecideByFile(Attempt attempt);
  void Ask(Attempt attempt, const ProgramLook& program, pid_t process, const exec_policy::Judgement& judgement);
  void CarryOut(const Attempt& attempt, const ProgramLook& program, pid_t process, const Answer& decision);
  OrErrno<StubPurpose> PurposeOf(const Attempt& attempt, const Answer& decision) const;
  OrErrno<> KeepStubIntact();
  OrErrno<> Redirect(const Attempt& attempt, pid_t process, StubPurpose purpose);
  OrErrno<> Begin(const Attempt& attempt, pid_t process, StubPurpose purpose);
  bool HasTracedThread(pid_t process) const;
  void ResumeParked();
  void EndQuestion(uint64_t call);

  bool IsStopNear() const;
  void AwaitStop();
  void PollTracees();
  void Handle(uint64_t stub, SessionEvent event);
  size_t held_bytes() const;

  const SupervisorSettings settings_;
  OwnedFd helper_;
  StubProgram stub_;
  Inspection inspection_ = Inspection::kPossible;  // known since the first call
  Inbox& inbox_;
  Errands& errands_;
  std::optional<Listener> listener_;
  bool awaits_first_ = true;
  bool ends_ = false;
  std::map<uint64_t, OpenQuestion> questions_;                 // by the id of the call
  std::map<uint64_t, std::unique_ptr<StubSession>> sessions_;  // by the id of the session
  uint64_t next_session_ = 1;
  std::vector<ParkedCall> parked_;
  std::vector<Tracee> leaving_;                 // threads whose tracing is about to end
  size_t traced_ = 0;                           // threads that are traced
  std::unique_ptr<sys::WaitLimit> stop_limit_;  // null if the kernel refuses it
  std::vector<pollfd> polled_;
};

}  // namespace holdfast::escalate
