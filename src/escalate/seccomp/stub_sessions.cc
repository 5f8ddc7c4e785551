#include "escalate/seccomp/stub_sessions.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace holdfast::escalate {
namespace {

using namespace std::chrono_literals;

// Nothing but a wait shows that a traced thread has stopped: no descriptor becomes readable. So the supervisor waits in
// the kernel for a thread that is about to stop, which takes only as long as the kernel does not run the thread. It is
// woken at once, and none of the usual steps of a redirection needs a look by time.
//
// The limit is for threads that are frozen, or that a hostile process keeps in their execve, for example by memory
// whose pages another process has to provide. Only their own tree waits for them, and the end of the supervision does
// not wait for longer. After the limit, and where a thread stops without being asked to, because of a signal that comes
// between its redirection and its next call, the supervisor looks for the stop in pauses.
constexpr std::chrono::milliseconds kStopLimit = 10ms;
constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000}, kNoPause = {};

}  // namespace

void StubSessions::EnterThread() { stop_limit_ = sys::WaitLimit::Create(kStopLimit).value_or(nullptr); }

// A thread that is being redirected makes another call only if a signal handler has jumped away from the redirected
// one. The call of another thread, which has got its number, is judged like any other.
bool StubSessions::Answer(const Listener& listener, const ExecCall& call) {
  for (const auto& [id, session] : sessions_) {
    if (session->traced_thread() == call.tid && !session->StillTraces()) {
      Handle(id, SessionEvent::kOver);
      return Answer(listener, call);
    }
    if (session->IsRedirected(call)) {
      session->LetExecute(listener, call);
    } else if (session->IsHello(call)) {
      Handle(id, session->Greet(listener, call));
    } else if (session->IsRun(call)) {
      Handle(id, session->LetRun(listener, call, inspection_, stop_limit_.get()));
      CountTraced();
    } else if (session->traced_thread() == call.tid) {
      listener.Fail(call.id, EPERM);
      Handle(id, SessionEvent::kOver);
    } else {
      continue;
    }
    return true;
  }
  return false;
}

// Processes that are about to execute the image which was changed do not execute the one in its place, and are killed.
OrErrno<> StubSessions::KeepStubIntact() {
  if (stub_.IsIntact()) return {};
  auto another = StubProgram::Create();
  if (!another) return std::unexpected(EAGAIN);
  stub_ = *std::move(another);
  return {};
}

OrErrno<> StubSessions::Redirect(const Listener& listener, const Attempt& attempt, pid_t process, StubPurpose purpose) {
  if (!HasTracedThread(process)) return Begin(listener, attempt, process, std::move(purpose));
  parked_.push_back({.attempt = attempt, .process = process, .purpose = std::move(purpose)});
  return {};
}

OrErrno<> StubSessions::Begin(const Listener& listener, const Attempt& attempt, pid_t process, StubPurpose purpose) {
  if (const auto intact = KeepStubIntact(); !intact) return intact;
  auto tracee = Tracee::Seize(attempt.call.tid, process, stop_limit_.get());
  if (!tracee) return std::unexpected(tracee.error());
  const uint64_t id = next_session_++;
  sessions_.emplace(id, StubSession::Begin(listener, attempt, *std::move(tracee), stub_.fd(), id, std::move(purpose)));
  ++traced_;
  return {};
}

// Several threads of one process may call execve at the same time. They are redirected one after the other (tracee.h):
// usually the first one executes the stub, which ends the others and their calls.
bool StubSessions::HasTracedThread(pid_t process) const {
  return std::ranges::find(leaving_, process, &Tracee::process) != leaving_.end() ||
         std::ranges::any_of(sessions_, [&](const auto& entry) {
           return entry.second->is_traced() && entry.second->process() == process;
         });
}

void StubSessions::ResumeParked(const Listener* listener) {
  for (ParkedCall& parked : std::exchange(parked_, {})) {
    const uint64_t id = parked.attempt.call.id;
    if (HasTracedThread(parked.process)) {
      parked_.push_back(std::move(parked));
    } else if (listener != nullptr && listener->IsWaiting(id)) {
      const auto begun = Begin(*listener, parked.attempt, parked.process, std::move(parked.purpose));
      if (!begun) listener->Fail(id, begun.error());
    }
  }
}

void StubSessions::AddTo(std::vector<pollfd>& polled) const {
  for (const auto& [id, session] : sessions_) polled.push_back({session->poll_fd(), POLLIN, 0});
}

const timespec* StubSessions::pause() const {
  if (traced_ == 0) return nullptr;
  return IsStopNear() ? &kNoPause : &kPause;
}

void StubSessions::OnInput(int fd) {
  for (const auto& [id, session] : sessions_) {
    if (session->poll_fd() == fd) return Handle(id, session->OnInput(errands_));
  }
}

void StubSessions::LookAtTracees(const Listener* listener) {
  if (traced_ == 0) return;
  AwaitStop();
  PollTracees();
  ResumeParked(listener);
}

bool StubSessions::IsStopNear() const {
  return std::ranges::any_of(leaving_, &Tracee::is_about_to_stop) ||
         std::ranges::any_of(sessions_, [](const auto& entry) { return entry.second->is_about_to_stop(); });
}

// Waits for the next stop or end of any traced thread, and leaves it to PollTracees to see what has happened. The wait
// is not one for a certain thread, because a thread that executes a program may get another number meanwhile. The
// thread of the supervisor has no children of its own.
void StubSessions::AwaitStop() {
  if (!IsStopNear()) return;
  const auto wait = [] {
    siginfo_t changed;
    return ::waitid(P_ALL, 0, &changed, WEXITED | WSTOPPED | WNOWAIT | __WALL | __WNOTHREAD);
  };
  if (stop_limit_ != nullptr && stop_limit_->Call(wait) == 0) return;
  for (Tracee& tracee : leaving_) tracee.ExpectNothing();
  for (const auto& [id, session] : sessions_) session->ExpectNothing();
}

void StubSessions::PollTracees() {
  std::vector<uint64_t> traced;
  for (const auto& [id, session] : sessions_) {
    if (session->is_traced()) traced.push_back(id);
  }
  for (const uint64_t id : traced) {
    StubSession& session = *sessions_.at(id);
    const SessionEvent event = session.PollTracee();
    Handle(id, event == SessionEvent::kExecuted ? session.OnExecuted(stub_, inspection_, judge_) : event);
  }
  std::erase_if(leaving_, [](Tracee& tracee) { return tracee.Release(); });
  CountTraced();
}

void StubSessions::CountTraced() {
  traced_ = leaving_.size();
  for (const auto& [id, session] : sessions_) traced_ += session->is_traced() ? 1 : 0;
}

// A thread that is still traced has to stop once more, so that it can be released.
void StubSessions::Handle(uint64_t stub, SessionEvent event) {
  if (event != SessionEvent::kOver) return;
  const auto session = sessions_.find(stub);
  if (session->second->is_traced()) {
    leaving_.push_back(session->second->TakeTracee());
    (void)leaving_.back().Interrupt();  // a thread that has ended is released as well
  }
  sessions_.erase(session);
}

void StubSessions::OnStopped(uint64_t stub, int signal, unsigned continue_count) {
  const auto session = sessions_.find(stub);
  if (session != sessions_.end()) session->second->OnStopped(signal, continue_count);
}

void StubSessions::OnEnded(uint64_t stub, const Ending& ending) {
  const auto session = sessions_.find(stub);
  if (session != sessions_.end()) Handle(stub, session->second->OnEnded(ending));
}

size_t StubSessions::held_bytes() const {
  size_t bytes = 0;
  for (const auto& [id, session] : sessions_) bytes += session->held_bytes();
  for (const ParkedCall& parked : parked_) bytes += parked.attempt.held_bytes() + HeldBytes(parked.purpose);
  return bytes;
}

}  // namespace holdfast::escalate
