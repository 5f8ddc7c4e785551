#include "escalate/seccomp/supervisor.h"

#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>

#include "escalate/caller/caller_view.h"
#include "escalate/caller/taken_fds.h"
#include "escalate/outside/outside_environment.h"
#include "sys/descriptor_passing.h"
#include "sys/foreign_fd.h"
#include "sys/pidfd.h"
#include "sys/short_slices.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using exec_policy::Judgement;
using exec_policy::ProgramFile;
using exec_policy::WorkingDirectory;

exec_policy::ExecAttempt Judged(const Attempt& attempt, ProgramFile file, WorkingDirectory directory) {
  return {.file = attempt.program.path,
          .argv = attempt.argv,
          .cwd = attempt.cwd,
          .program_file = file,
          .other_paths = attempt.program.other_paths,
          .interpreter = attempt.program.interpreter,
          .interpreter_paths = attempt.program.interpreter_paths,
          .directory = directory};
}

OrErrno<ProgramLook> LookAt(const Attempt& attempt, const CallerState& state) {
  const auto caller = CallerView::Of(attempt.call.tid);
  if (!caller) return std::unexpected(caller.error());
  return LookAtProgram(*caller, attempt.program, state);
}

OrErrno<std::vector<PassedFd>> StreamsOf(pid_t tid, pid_t process) {
  const auto thread = sys::OpenThreadPidfd(tid, process);
  return thread ? TakeStandardStreams(thread->get()) : std::unexpected(ESRCH);
}

}  // namespace

Supervisor::Supervisor(SupervisorSettings settings, OwnedFd helper, StubProgram stub, Inbox& inbox, Errands& errands)
    : settings_(std::move(settings)),
      helper_(std::move(helper)),
      inbox_(inbox),
      errands_(errands),
      stubs_(std::move(stub), settings_.judge, errands) {}

void Supervisor::Run() {
  sys::raw::AskForShortSlices();
  stubs_.EnterThread();
  while (!ends_) Poll();
}

void Supervisor::Poll() {
  polled_.assign({{inbox_.fd(), POLLIN, 0}});
  polled_.push_back({listener_ ? listener_->fd() : helper_.get(), POLLIN, 0});
  for (const auto& [id, question] : questions_) polled_.push_back({question.thread.get(), POLLIN, 0});
  stubs_.AddTo(polled_);
  const int ready = ::ppoll(polled_.data(), polled_.size(), stubs_.pause(), nullptr);
  if (ready > 0) {
    if (polled_[0].revents != 0 && !OnInbox()) return;
    for (const pollfd& other : std::span(polled_).subspan(2)) {
      if (other.revents != 0) OnInput(other.fd);
    }
    if (polled_[1].revents != 0) listener_ ? OnCall() : OnHelper();
  }
  stubs_.LookAtTracees(listener_ ? &*listener_ : nullptr);
}

// The helper waits for one byte, which says that every execve is answered from now on.
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
    stubs_.SetInspection(InspectionOfStubs(call->tid));
    if (settings_.first == FirstExec::kTrusted) return listener_->Continue(call->id);
  }
  if (!stubs_.Answer(*listener_, *call)) Decide(*call);
}

// Most calls end here: they are judged by what the rules say about any file of that path, and go on.
void Supervisor::Decide(const ExecCall& call) {
  if (OnlyChecks(call)) return listener_->Continue(call.id);
  auto attempt = ReadAttempt(call);
  if (!listener_->IsWaiting(call.id)) return;
  if (!attempt) return listener_->Fail(call.id, attempt.error());
  const Judgement judgement = settings_.judge(Judged(*attempt, ProgramFile::kOfSystem, WorkingDirectory::kSame));
  const bool runs = judgement.action == Action::kRun && !judgement.asks;
  if (runs && settings_.strictness == Strictness::kUsual) return listener_->Continue(call.id);
  DecideByFile(*std::move(attempt));
}

// An execution that cannot succeed fails as it would without a supervisor. A program that needs a shell is different:
// the shell that gets ENOEXEC runs it by reading it, so it is judged first.
void Supervisor::DecideByFile(Attempt attempt) {
  const uint64_t id = attempt.call.id;
  const auto caller = ReadCallerState(attempt.call.tid);
  const auto program = caller ? LookAt(attempt, *caller) : OrErrno<ProgramLook>(std::unexpected(EPERM));
  auto directory = OpenOutsideDirectory(attempt.call.tid);
  attempt.program.file.reset();  // the attempt may be kept for long
  if (!listener_->IsWaiting(id)) return;
  if (!program) return listener_->Fail(id, program.error());
  const Judgement judgement = settings_.judge(
      Judged(attempt, program->file, directory ? WorkingDirectory::kSame : WorkingDirectory::kElsewhere));
  const bool runs = judgement.action == Action::kRun && !judgement.asks;
  if (runs && settings_.strictness == Strictness::kUsual) return listener_->Continue(id);
  Case about{.attempt = std::move(attempt),
             .program = *program,
             .process = caller->process,
             .departure = {.directory = std::move(directory)}};
  if (judgement.asks || judgement.action == Action::kEscalate) {
    if (const auto prepared = Prepare(about, judgement); !prepared) return listener_->Fail(id, prepared.error());
  }
  if (judgement.asks) return Ask(std::move(about), judgement);
  CarryOut(std::move(about), {.action = judgement.action, .reason = judgement.reason});
}

// Fixes what the program takes with it if it leaves.
OrErrno<> Supervisor::Prepare(Case& about, const Judgement& judgement) const {
  const auto caller = ReadEnvironment(about.attempt);
  if (!caller) return std::unexpected(caller.error());
  about.departure.variables = CarriedVariables(settings_.environment, *caller, judgement.variables);
  about.departure.streams = StreamsOf(about.attempt.call.tid, about.process);
  return {};
}

void Supervisor::Ask(Case about, const Judgement& judgement) {
  const Attempt& attempt = about.attempt;
  const uint64_t id = attempt.call.id;
  auto thread = sys::OpenThreadPidfd(attempt.call.tid, about.process);
  if (!listener_->IsWaiting(id)) return;
  const size_t bytes = attempt.held_bytes() + BytesOf(about.departure.variables);
  if (questions_.size() >= settings_.max_questions || held_bytes() + bytes > settings_.max_bytes || !thread) {
    return listener_->Fail(id, EAGAIN);
  }
  const auto& directory = about.departure.directory;
  errands_.Ask(id, {.file = attempt.program.path,
                    .argv = attempt.argv,
                    .cwd = directory ? directory->path : attempt.cwd,
                    .variables = about.departure.variables,
                    .reason = judgement.reason,
                    .rule = judgement.rule,
                    .when_approved = judgement.action});
  questions_.emplace(id, OpenQuestion{.about = std::move(about), .thread = *std::move(thread)});
}

void Supervisor::OnMessage(const Answered& message) {
  const auto found = questions_.find(message.call);
  if (found == questions_.end()) return;
  OpenQuestion question = std::move(found->second);
  questions_.erase(found);
  if (!listener_ || !listener_->IsWaiting(message.call)) return;
  CarryOut(std::move(question.about), message.answer);
}

void Supervisor::EndQuestion(uint64_t call) {
  questions_.erase(call);
  errands_.Withdraw(call);
}

// The call always becomes an execution of the stub, except that a program which needs a shell is left to the shell.
void Supervisor::CarryOut(Case about, const Answer& decision) {
  const uint64_t id = about.attempt.call.id;
  if (about.program.needs_shell && decision.action != Action::kDeny) return listener_->Fail(id, ENOEXEC);
  auto purpose = PurposeOf(about, decision);
  if (!listener_->IsWaiting(id)) return;
  const auto redirected =
      purpose ? Redirect(about.attempt, about.process, *std::move(purpose)) : std::unexpected(purpose.error());
  if (!redirected) listener_->Fail(id, redirected.error());
}

OrErrno<StubPurpose> Supervisor::PurposeOf(Case& about, const Answer& decision) const {
  const Attempt& attempt = about.attempt;
  if (decision.action == Action::kDeny) return MakeRefusal(decision.reason);
  if (decision.action == Action::kEscalate) return StandInFor(attempt, std::move(about.departure));
  const auto environment = ReadEnvironment(attempt);
  if (!environment) return std::unexpected(environment.error());
  // The process cannot change where a fixed path leads.
  const ProgramFile file = about.program.file;
  const bool is_fixed = file == ProgramFile::kOfSystem || file == ProgramFile::kFixed;
  return RunAsJudged{.image = MakeImage(attempt.program.path, attempt.argv, *environment),
                     .doubted = is_fixed ? nullptr : std::make_shared<const Attempt>(attempt)};
}

// A client may answer that a program runs outside although that was not proposed.
OrErrno<StubPurpose> Supervisor::StandInFor(const Attempt& attempt, Departure departure) const {
  if (!departure.directory) return MakeRefusal(kDirectoryElsewhere);
  if (!departure.streams) return std::unexpected(departure.streams.error());
  return StandIn{
      {.path = attempt.program.path,
       .argv = attempt.argv,
       .environment = OutsideEnvironment(settings_.environment, departure.variables, departure.directory->path),
       .directory = std::move(departure.directory->fd),
       .fds = *std::move(departure.streams)}};
}

OrErrno<> Supervisor::Redirect(const Attempt& attempt, pid_t process, StubPurpose purpose) {
  if (stubs_.count() >= settings_.max_stubs) return std::unexpected(EAGAIN);
  if (!sys::HasRoomForForeignFds()) return std::unexpected(EAGAIN);
  if (held_bytes() + HeldBytes(purpose) > settings_.max_bytes) return std::unexpected(EAGAIN);
  return stubs_.Redirect(*listener_, attempt, process, std::move(purpose));
}

void Supervisor::OnInput(int fd) {
  for (const auto& [id, question] : questions_) {
    if (question.thread.get() == fd) return EndQuestion(id);
  }
  stubs_.OnInput(fd);
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
  stubs_.OnStopped(message.stub, message.signal, message.continue_count);
}

void Supervisor::OnMessage(const CommandEnded& message) { stubs_.OnEnded(message.stub, message.ending); }

size_t Supervisor::held_bytes() const {
  size_t bytes = stubs_.held_bytes();
  for (const auto& [id, question] : questions_) {
    bytes += question.about.attempt.held_bytes() + BytesOf(question.about.departure.variables);
  }
  return bytes;
}

}  // namespace holdfast::escalate
