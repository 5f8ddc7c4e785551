// The supervisor of one process tree. It receives the listener from the helper, and then answers every execve of the
// tree: it lets the call go on, lets it fail, asks a question, or has a stub session take the call over. It runs on a
// thread of its own and waits in its poll: a question, a command outside or a process that does not go on only delays
// what depends on it.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/caller/program.h"
#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/departure.h"
#include "escalate/seccomp/errands.h"
#include "escalate/seccomp/inbox.h"
#include "escalate/seccomp/listener.h"
#include "escalate/seccomp/stub_program.h"
#include "escalate/seccomp/stub_purpose.h"
#include "escalate/seccomp/stub_sessions.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

class Supervisor {
 public:
  // `helper` is the socket that the listener comes from, `stub` the program of the stub. `inbox` and `errands` outlive
  // the supervisor.
  Supervisor(SupervisorSettings settings, OwnedFd helper, StubProgram stub, Inbox& inbox, Errands& errands);

  // Returns when the inbox is closed.
  void Run();

 private:
  // A call with all that was found out about it when it was judged.
  struct Case {
    Attempt attempt;
    ProgramLook program;
    pid_t process;
    Departure departure;
  };

  // A case that waits for the answer to a question.
  struct OpenQuestion {
    Case about;
    OwnedFd thread;  // a pidfd, readable once the asking thread has ended
  };

  void Poll();
  void OnHelper();
  void OnCall();
  void OnInput(int fd);
  bool OnInbox();
  void OnMessage(const Answered& message);
  void OnMessage(const CommandStopped& message);
  void OnMessage(const CommandEnded& message);

  void Decide(const ExecCall& call);
  void DecideByFile(Attempt attempt);
  OrErrno<> Prepare(Case& about, const exec_policy::Judgement& judgement) const;
  void Ask(Case about, const exec_policy::Judgement& judgement);
  void CarryOut(Case about, const Answer& decision);
  OrErrno<StubPurpose> PurposeOf(Case& about, const Answer& decision) const;
  OrErrno<StubPurpose> StandInFor(const Attempt& attempt, Departure departure) const;
  OrErrno<> Redirect(const Attempt& attempt, pid_t process, StubPurpose purpose);
  void EndQuestion(uint64_t call);

  size_t held_bytes() const;

  const SupervisorSettings settings_;
  OwnedFd helper_;
  Inbox& inbox_;
  Errands& errands_;
  std::optional<Listener> listener_;
  bool awaits_first_ = true;
  bool ends_ = false;
  std::map<uint64_t, OpenQuestion> questions_;  // by the id of the call
  StubSessions stubs_;
  std::vector<pollfd> polled_;
};

}  // namespace holdfast::escalate
