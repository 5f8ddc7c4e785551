#include "escalate/seccomp/supervisor.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <span>
#include <utility>

#include "escalate/caller/caller_state.h"
#include "escalate/outside/loader_variables.h"
#include "sys/descriptor_passing.h"
#include "sys/foreign_fd.h"
#include "sys/pidfd.h"
#include "sys/short_slices.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using exec_policy::Judgement;
using exec_policy::LoaderVariables;
using exec_policy::ProgramFile;
using namespace std::chrono_literals;

// Nothing but a wait tells that a traced thread has stopped: no descriptor becomes readable. So the supervisor waits in
// the kernel for a thread that is about to stop, which takes only as long as the kernel does not run the thread. It is
// woken at once, and none of the usual steps of a redirection needs a look by time.
//
// The limit is for threads that are frozen, or that a hostile process keeps in their execve, for example by memory
// whose pages another process has to provide. Only their own tree waits for them, and the end of the supervision does
// not wait for longer. After the limit, and where a thread stops without being asked to, because of a signal that comes
// between its redirection and its next call, the supervisor looks for the stop in pauses.
constexpr std::chrono::milliseconds kStopLimit = 10ms;
constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000}, kNoPause = {};

exec_policy::ExecAttempt Judged(const Attempt& attempt, ProgramFile file, LoaderVariables variables) {
  return {.file = attempt.file,
          .argv = attempt.argv,
          .cwd = attempt.cwd,
          .program_file = file,
          .interpreter = attempt.interpreter,
          .loader_variables = variables};
}

// The caller may change its environment after this. The command outside never gets such variables (OutsideCommand).
OrErrno<LoaderVariables> FindLoaderVariables(const Attempt& attempt) {
  const auto environment = ReadEnvironment(attempt);
  if (!environment) return std::unexpected(environment.error());
  return HasLoaderVariables(*environment) ? LoaderVariables::kPresent : LoaderVariables::kNone;
}

}  // namespace

Supervisor::Supervisor(SupervisorSettings settings, OwnedFd helper, StubProgram stub, Inbox& inbox, Errands& errands)
    : settings_(std::move(settings)),
      helper_(std::move(helper)),
      stub_(std::move(stub)),
      inbox_(inbox),
      errands_(errands) {}

void Supervisor::Run() {
  sys::raw::AskForShortSlices();
  stop_limit_ = sys::WaitLimit::Create(kStopLimit).value_or(nullptr);
  while (!ends_) Poll();
}

void Supervisor::Poll() {
  polled_.assign({{inbox_.fd(), POLLIN, 0}});
  polled_.push_back({listener_ ? listener_->fd() : helper_.get(), POLLIN, 0});
  for (const auto& [id, question] : questions_) polled_.push_back({question.thread.get(), POLLIN, 0});
  for (const auto& [id, session] : sessions_) polled_.push_back({session->poll_fd(), POLLIN, 0});
  const timespec* const pause = IsStopNear() ? &kNoPause : traced_ > 0 ? &kPause : nullptr;
  const int ready = ::ppoll(polled_.data(), polled_.size(), pause, nullptr);
  if (ready > 0) {
    if (polled_[0].revents != 0 && !OnInbox()) return;
    for (const pollfd& other : std::span(polled_).subspan(2)) {
      if (other.revents != 0) OnInput(other.fd);
    }
    if (polled_[1].revents != 0) listener_ ? OnCall() : OnHelper();
  }
  if (traced_ == 0) return;
  AwaitStop();
  PollTracees();
}

// The helper waits for one byte, which tells it that every execve is answered from now on.
void Supervisor::OnHelper() {
  char byte;
  auto received = sys::ReceiveWithDescriptor(helper_.get(), std::span(&byte, 1));
  if (received && received->fd.is_open()) {
    listener_.emplace(std::move(received->fd));
    (void)::send(helper_.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);  // a helper that is gone needs no answer
  }
  if (!received || received->size == 0 || listener_) helper_.Reset();
}

// A listener that is at its end has no processes any more. It is not polled again.
void Supervisor::OnCall() {
  if ((polled_[1].revents & POLLIN) == 0) {
    listener_.reset();
    return;
  }
  const auto call = listener_->Receive();
  if (!call) return;
  if (std::exchange(awaits_first_, false)) {
    inspection_ = InspectionOfStubs(call->tid);
    if (settings_.first == FirstExec::kTrusted) return listener_->Continue(call->id);
  }
  if (!BelongsToStub(*call)) Decide(*call);
}

// Returns whether the call is one that a session expects, or one of a thread that is being redirected. That thread
// makes another call only if a signal handler has jumped away from the redirected one.
bool Supervisor::BelongsToStub(const ExecCall& call) {
  for (const auto& [id, session] : sessions_) {
    if (session->IsRedirected(call)) {
      session->LetExecute(*listener_, call);
    } else if (session->IsHello(call)) {
      Handle(id, session->Greet(*listener_, call));
    } else if (session->IsRun(call)) {
      listener_->Continue(call.id);
      Handle(id, SessionEvent::kOver);
    } else if (session->traced_thread() == call.tid) {
      listener_->Fail(call.id, EPERM);
      Handle(id, SessionEvent::kOver);
    } else {
      continue;
    }
    return true;
  }
  return false;
}

// Most calls end here: they are judged by what the rules say about any file of that path, and go on.
void Supervisor::Decide(const ExecCall& call) {
  if (OnlyChecks(call)) return listener_->Continue(call.id);
  auto attempt = ReadAttempt(call);
  if (!listener_->IsWaiting(call.id)) return;
  if (!attempt) return listener_->Fail(call.id, attempt.error());
  const Judgement judgement = settings_.judge(Judged(*attempt, ProgramFile::kFixed, LoaderVariables::kNone));
  const bool runs = judgement.action == Action::kRun && !judgement.asks;
  if (runs && settings_.strictness == Strictness::kUsual) return listener_->Continue(call.id);
  DecideByFile(*std::move(attempt));
}

// An execution that cannot succeed fails as it would without a supervisor. A program that needs a shell is different:
// the shell that gets ENOEXEC runs it by reading it, so it is judged first.
void Supervisor::DecideByFile(Attempt attempt) {
  const uint64_t id = attempt.call.id;
  const auto caller = ReadCallerState(attempt.call.tid);
  const auto program = caller ? LookAtProgram(attempt.call.tid, attempt.file, *caller, attempt.link)
                              : OrErrno<ProgramLook>(std::unexpected(EPERM));
  const auto variables = FindLoaderVariables(attempt);
  if (!listener_->IsWaiting(id)) return;
  if (!program) return listener_->Fail(id, program.error());
  if (!variables) return listener_->Fail(id, variables.error());
  const Judgement judgement = settings_.judge(Judged(attempt, program->file, *variables));
  if (judgement.asks) return Ask(std::move(attempt), *program, caller->process, judgement);
  if (judgement.action == Action::kRun && settings_.strictness == Strictness::kUsual) return listener_->Continue(id);
  CarryOut(attempt, *program, caller->process, {.action = judgement.action, .reason = judgement.reason});
}

void Supervisor::Ask(Attempt attempt, const ProgramLook& program, pid_t process, const Judgement& judgement) {
  const uint64_t id = attempt.call.id;
  auto thread = sys::OpenThreadPidfd(attempt.call.tid, process);
  if (questions_.size() >= settings_.max_questions || held_bytes() + attempt.held_bytes() > settings_.max_bytes ||
      !thread) {
    return listener_->Fail(id, EAGAIN);
  }
  errands_.Ask(id, {.file = attempt.file,
                    .argv = attempt.argv,
                    .cwd = attempt.cwd,
                    .reason = judgement.reason,
                    .rule = judgement.rule,
                    .when_approved = judgement.action});
  questions_.emplace(
      id, OpenQuestion{
              .attempt = std::move(attempt), .program = program, .process = process, .thread = *std::move(thread)});
}

void Supervisor::OnMessage(const Answered& message) {
  const auto found = questions_.find(message.call);
  if (found == questions_.end()) return;
  const OpenQuestion question = std::move(found->second);
  questions_.erase(found);
  if (!listener_ || !listener_->IsWaiting(message.call)) return;
  CarryOut(question.attempt, question.program, question.process, message.answer);
}

void Supervisor::EndQuestion(uint64_t call) {
  questions_.erase(call);
  errands_.Withdraw(call);
}

// The call always becomes an execution of the stub, except that a program which needs a shell is left to the shell.
void Supervisor::CarryOut(const Attempt& attempt, const ProgramLook& program, pid_t process, const Answer& decision) {
  const uint64_t id = attempt.call.id;
  if (program.needs_shell && decision.action != Action::kDeny) return listener_->Fail(id, ENOEXEC);
  auto purpose = PurposeOf(attempt, decision);
  if (!listener_->IsWaiting(id)) return;
  const auto redirected = purpose ? Redirect(attempt, process, *std::move(purpose)) : std::unexpected(purpose.error());
  if (!redirected) listener_->Fail(id, redirected.error());
}

OrErrno<StubPurpose> Supervisor::PurposeOf(const Attempt& attempt, const Answer& decision) const {
  if (decision.action == Action::kDeny) return MakeRefusal(decision.reason);
  auto environment = ReadEnvironment(attempt);
  if (!environment) return std::unexpected(environment.error());
  if (decision.action == Action::kRun) return RunAsJudged{MakeImage(attempt.file, attempt.argv, *environment)};
  return StandIn{
      {.path = attempt.file, .argv = attempt.argv, .environment = *std::move(environment), .cwd = attempt.cwd}};
}

// Processes that are about to execute the image which was changed do not execute the one in its place, and are killed.
OrErrno<> Supervisor::KeepStubIntact() {
  if (stub_.IsIntact()) return {};
  auto another = StubProgram::Create();
  if (!another) return std::unexpected(EAGAIN);
  stub_ = *std::move(another);
  return {};
}

OrErrno<> Supervisor::Redirect(const Attempt& attempt, pid_t process, StubPurpose purpose) {
  if (sessions_.size() + parked_.size() >= settings_.max_stubs) return std::unexpected(EAGAIN);
  if (!sys::HasRoomForForeignFds()) return std::unexpected(EAGAIN);
  if (held_bytes() + HeldBytes(purpose) > settings_.max_bytes) return std::unexpected(EAGAIN);
  if (!HasTracedThread(process)) return Begin(attempt, process, std::move(purpose));
  parked_.push_back({.attempt = attempt, .process = process, .purpose = std::move(purpose)});
  return {};
}

OrErrno<> Supervisor::Begin(const Attempt& attempt, pid_t process, StubPurpose purpose) {
  if (const auto intact = KeepStubIntact(); !intact) return intact;
  auto tracee = Tracee::Seize(attempt.call.tid, process, stop_limit_.get());
  if (!tracee) return std::unexpected(tracee.error());
  const uint64_t id = next_session_++;
  sessions_.emplace(id,
                    StubSession::Begin(*listener_, attempt, *std::move(tracee), stub_.fd(), id, std::move(purpose)));
  ++traced_;
  return {};
}

// Several threads of one process may call execve at the same time. They are redirected one after the other (tracee.h):
// usually the first one executes the stub, which ends the others and their calls.
bool Supervisor::HasTracedThread(pid_t process) const {
  return std::ranges::find(leaving_, process, &Tracee::process) != leaving_.end() ||
         std::ranges::any_of(sessions_, [&](const auto& entry) {
           return entry.second->is_traced() && entry.second->process() == process;
         });
}

void Supervisor::ResumeParked() {
  for (ParkedCall& parked : std::exchange(parked_, {})) {
    const uint64_t id = parked.attempt.call.id;
    if (HasTracedThread(parked.process)) {
      parked_.push_back(std::move(parked));
    } else if (listener_ && listener_->IsWaiting(id)) {
      const auto begun = Begin(parked.attempt, parked.process, std::move(parked.purpose));
      if (!begun) listener_->Fail(id, begun.error());
    }
  }
}

bool Supervisor::IsStopNear() const {
  return std::ranges::any_of(leaving_, &Tracee::is_about_to_stop) ||
         std::ranges::any_of(sessions_, [](const auto& entry) { return entry.second->is_about_to_stop(); });
}

// Waits for the next stop or end of any traced thread, and leaves it to PollTracees to see what has happened. The wait
// is not one for a certain thread, because a thread that executes a program may get another number meanwhile. The
// thread of the supervisor has no children of its own.
void Supervisor::AwaitStop() {
  if (!IsStopNear()) return;
  const auto wait = [] {
    siginfo_t changed;
    return ::waitid(P_ALL, 0, &changed, WEXITED | WSTOPPED | WNOWAIT | __WALL | __WNOTHREAD);
  };
  if (stop_limit_ != nullptr && stop_limit_->Call(wait) == 0) return;
  for (Tracee& tracee : leaving_) tracee.ExpectNothing();
  for (const auto& [id, session] : sessions_) session->ExpectNothing();
}

void Supervisor::PollTracees() {
  std::vector<uint64_t> traced;
  for (const auto& [id, session] : sessions_) {
    if (session->is_traced()) traced.push_back(id);
  }
  for (const uint64_t id : traced) {
    StubSession& session = *sessions_.at(id);
    const SessionEvent event = session.PollTracee();
    Handle(id, event == SessionEvent::kExecuted ? session.OnExecuted(stub_, inspection_) : event);
  }
  std::erase_if(leaving_, [](Tracee& tracee) { return tracee.Release(); });
  traced_ = leaving_.size();
  for (const auto& [id, session] : sessions_) traced_ += session->is_traced() ? 1 : 0;
  ResumeParked();
}

// A thread that is still traced has to stop once more, so that it can be released.
void Supervisor::Handle(uint64_t stub, SessionEvent event) {
  if (event != SessionEvent::kOver) return;
  const auto session = sessions_.find(stub);
  if (session->second->is_traced()) {
    leaving_.push_back(session->second->TakeTracee());
    leaving_.back().Interrupt();
  }
  sessions_.erase(session);
}

void Supervisor::OnInput(int fd) {
  for (const auto& [id, question] : questions_) {
    if (question.thread.get() == fd) return EndQuestion(id);
  }
  for (const auto& [id, session] : sessions_) {
    if (session->poll_fd() == fd) return Handle(id, session->OnInput(errands_));
  }
}

// Returns false at the end of the supervision.
bool Supervisor::OnInbox() {
  const auto messages = inbox_.Take();
  if (!messages) {
    ends_ = true;
    return false;
  }
  for (const InboxMessage& message : *messages) {
    std::visit([this](const auto& known) { OnMessage(known); }, message);
  }
  return true;
}

void Supervisor::OnMessage(const CommandStopped& message) {
  const auto session = sessions_.find(message.stub);
  if (session != sessions_.end()) session->second->OnStopped(message.signal, message.continue_count);
}

void Supervisor::OnMessage(const CommandEnded& message) {
  const auto session = sessions_.find(message.stub);
  if (session != sessions_.end()) Handle(message.stub, session->second->OnEnded(message.ending));
}

size_t Supervisor::held_bytes() const {
  size_t bytes = 0;
  for (const auto& [id, question] : questions_) bytes += question.attempt.held_bytes();
  for (const auto& [id, session] : sessions_) bytes += session->held_bytes();
  for (const ParkedCall& parked : parked_) bytes += parked.attempt.held_bytes() + HeldBytes(parked.purpose);
  return bytes;
}

}  // namespace holdfast::escalate
