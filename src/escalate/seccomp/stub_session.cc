#include "escalate/seccomp/stub_session.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "escalate/caller/caller_view.h"
#include "escalate/caller/taken_fds.h"
#include "escalate/seccomp/attempt.h"
#include "escalate/seccomp/supervisor_settings.h"
#include "escalate/seccomp/taken_limits.h"
#include "escalate/stub/protocol.h"
#include "sys/descriptor_passing.h"
#include "sys/exit_codes.h"
#include "sys/file_identity.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {
namespace {

// The kernel itself chooses the interpreter of binfmt_misc, which is judged like a program that was called.
// Returns whether a process that has just executed the program of an attempt runs that program, or one that may run
// anyway. The process has not made its first step yet.
bool RunsAsJudged(pid_t process, const Attempt& attempt, const JudgeFunction& judge) {
  struct stat executed;
  if (::stat(fmt::format("/proc/{}/exe", process).c_str(), &executed) != 0) return false;
  if (std::ranges::count(attempt.program.executables, sys::FileIdentity::Of(executed)) > 0) return true;
  const auto path = LinkOf(process, "exe");
  if (!path) return false;
  std::vector<std::string> argv = attempt.argv;
  if (!argv.empty()) argv.front() = *path;
  const auto judgement = judge({.file = *path, .argv = argv, .cwd = attempt.cwd});
  return judgement.action == exec_policy::Action::kRun && !judgement.asks;
}

// The kernel's -ERESTARTNOINTR: the thread stopped before its call had begun, and will repeat it.
constexpr int64_t kWillRepeat = -513;

std::string_view BytesOf(const StubOrder& order) { return {reinterpret_cast<const char*>(&order), sizeof order}; }

// A stub that is gone is found out when the socket ends. A stub that does not get an order ends with the socket too.
SessionEvent Send(int control, const StubOrder& order, std::string_view text = {}) {
  const std::string packet = std::string(BytesOf(order)).append(text);
  const ssize_t sent = ::send(control, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? SessionEvent::kOver : SessionEvent::kNothing;
}

}  // namespace

StubSession::StubSession(uint64_t id, const Attempt& attempt, Tracee tracee, StubPurpose purpose)
    : id_(id),
      call_(attempt.call),
      path_end_(attempt.path_end),
      purpose_(std::move(purpose)),
      held_bytes_(HeldBytes(purpose_)),
      tracee_(std::move(tracee)),
      process_(tracee_->process()) {}

std::unique_ptr<StubSession> StubSession::Begin(const Listener& listener, const Attempt& attempt, Tracee tracee,
                                                int stub, uint64_t id, StubPurpose purpose) {
  std::unique_ptr<StubSession> session(new StubSession(id, attempt, std::move(tracee), std::move(purpose)));
  const auto number = listener.AddFd(attempt.call.id, stub);
  if (!number) session->state_ = State::kLeaving;
  session->stub_number_ = number.value_or(-1);
  (void)session->tracee_->Interrupt();  // if the thread has ended, PollTracee finds that out
  listener.Fail(attempt.call.id, number ? ENOSYS : number.error());
  return session;
}

SessionEvent StubSession::PollTracee() {
  using Kind = Tracee::Event::Kind;
  if (state_ == State::kLeaving) return SessionEvent::kOver;
  const Tracee::Event event = tracee_->Poll();
  switch (event.kind) {
    case Kind::kNothing:
      return SessionEvent::kNothing;
    case Kind::kReturned:
      return OnReturned();
    case Kind::kExecuted:
      return SessionEvent::kExecuted;
    case Kind::kGone:
      return SessionEvent::kOver;
  }
  std::unreachable();
}

// The thread has stopped. Where the stub could not be executed, the error has gone to the caller as that of its own
// call, for example E2BIG.
SessionEvent StubSession::OnReturned() {
  if (state_ == State::kStopping && tracee_->Returned() == -ENOSYS) {
    state_ = State::kRedirected;
    return tracee_->Redirect(call_, stub_number_, path_end_) ? SessionEvent::kWentOn : SessionEvent::kOver;
  }
  if (state_ == State::kExecuting && tracee_->Returned() == kWillRepeat) state_ = State::kRedirected;
  if (state_ == State::kBecomes && tracee_->Returned() == kWillRepeat) state_ = State::kRuns;
  if (state_ != State::kRedirected && state_ != State::kRuns) return SessionEvent::kOver;
  tracee_->Continue();
  return SessionEvent::kWentOn;
}

Tracee StubSession::TakeTracee() {
  Tracee taken = *std::move(tracee_);
  tracee_.reset();
  return taken;
}

// While the process is traced, its number cannot belong to another one.
SessionEvent StubSession::OnExecuted(const StubProgram& stub, Inspection inspection, const JudgeFunction& judge) {
  if (state_ == State::kBecomes) return OnBecame(judge);
  auto pidfd = sys::OpenPidfd(process_);
  if (!pidfd || state_ != State::kExecuting || !stub.IsExecutedBy(process_, inspection)) {
    tracee_->Kill();
    return SessionEvent::kOver;
  }
  if (!tracee_->Release()) return SessionEvent::kOver;
  tracee_.reset();
  pidfd_ = *std::move(pidfd);
  state_ = State::kStarted;
  return SessionEvent::kNothing;
}

// The process stays traced until it is released, or has ended.
SessionEvent StubSession::OnBecame(const JudgeFunction& judge) {
  if (!RunsAsJudged(process_, *std::get<RunAsJudged>(purpose_).doubted, judge)) tracee_->Kill();
  return SessionEvent::kOver;
}

bool StubSession::IsAlive() const { return pidfd_.is_open() && !sys::HasEnded(pidfd_.get()); }

bool StubSession::IsRedirected(const ExecCall& call) const {
  return state_ == State::kRedirected && call.tid == traced_thread() && call.kind == ExecCall::Kind::kExecveat &&
         call.directory == stub_number_ && call.path == path_end_ && call.flags == AT_EMPTY_PATH;
}

bool StubSession::IsHello(const ExecCall& call) const {
  return state_ == State::kStarted && call.tid == process_ && call.kind == ExecCall::Kind::kExecve &&
         call.path == kHelloPath && call.argv == kHelloArgv && call.envp == kHelloEnvp && IsAlive();
}

bool StubSession::IsRun(const ExecCall& call) const {
  return state_ == State::kRuns && call.tid == process_ && IsAlive();
}

// The thread was interrupted by StillTraces, so it stops also if it cannot execute the stub.
void StubSession::LetExecute(const Listener& listener, const ExecCall& call) {
  state_ = State::kExecuting;
  listener.Continue(call.id);
}

SessionEvent StubSession::Greet(const Listener& listener, const ExecCall& call) {
  auto sockets = sys::MakePacketPair();
  const auto number = sockets ? listener.AnswerWithFd(call.id, sockets->theirs.get()) : std::unexpected(EAGAIN);
  if (!number) {
    listener.Fail(call.id, number.error());
    return SessionEvent::kOver;
  }
  control_number_ = *number;
  control_ = std::move(sockets->ours);
  return GiveFirstOrder();
}

// The thread is interrupted, so it stops also if it cannot execute the program. It may stop before its call has begun,
// and then calls again.
SessionEvent StubSession::LetRun(const Listener& listener, const ExecCall& call, Inspection inspection,
                                 sys::WaitLimit* limit) {
  if (std::get<RunAsJudged>(purpose_).doubted == nullptr || inspection == Inspection::kRefused) {
    listener.Continue(call.id);
    return SessionEvent::kOver;
  }
  auto tracee = tracee_ ? OrErrno<Tracee>(TakeTracee()) : Tracee::Seize(call.tid, process_, limit);
  if (!tracee) {
    listener.Fail(call.id, tracee.error());
    return SessionEvent::kOver;
  }
  tracee_ = *std::move(tracee);
  (void)tracee_->Interrupt();
  state_ = State::kBecomes;
  listener.Continue(call.id);
  return SessionEvent::kNothing;
}

SessionEvent StubSession::GiveFirstOrder() {
  if (const auto* const refuse = std::get_if<Refuse>(&purpose_)) {
    const auto size = static_cast<unsigned>(refuse->text.size());
    (void)Send(control_.get(), {.kind = StubOrderKind::kRefuse, .value = 0, .size = size, .continue_count = 0},
               refuse->text);
    return SessionEvent::kOver;  // the order stays readable for the stub
  }
  if (const auto* const run = std::get_if<RunAsJudged>(&purpose_)) {
    state_ = State::kRuns;
    const StubOrder order = {.kind = StubOrderKind::kRun, .value = 0, .size = 0, .continue_count = 0};
    const auto image = sys::MakeMemoryFile("holdfast-exec-image", run->image);
    const bool sent = image && sys::SendWithDescriptor(control_.get(), BytesOf(order), image->get());
    return sent ? SessionEvent::kNothing : SessionEvent::kOver;
  }
  state_ = State::kGetsReady;
  return Send(control_.get(), {.kind = StubOrderKind::kStandIn, .value = 0, .size = 0, .continue_count = 0});
}

int StubSession::poll_fd() const {
  if (tracee_) return -1;
  return control_.is_open() ? control_.get() : pidfd_.get();
}

// Input is a message, the end of the control socket or, before there is one, the end of the process.
SessionEvent StubSession::OnInput(Errands& errands) {
  StubMessage message;
  if (!control_.is_open()) return SessionEvent::kOver;
  const ssize_t size = sys::TryReceive(control_.get(), {reinterpret_cast<char*>(&message), sizeof message}).size;
  if (size == -EAGAIN) return SessionEvent::kNothing;
  if (size == sizeof message && state_ == State::kGetsReady && message.kind == StubMessageKind::kReady) {
    return OnReady(message.state, errands);
  }
  if (size == sizeof message && state_ == State::kStandsIn && message.kind == StubMessageKind::kSignal) {
    errands.Signal(id_, message.value);
    return SessionEvent::kNothing;
  }
  if (size == sizeof message && state_ == State::kEnds) return SessionEvent::kNothing;
  if (state_ == State::kStandsIn) errands.Kill(id_);
  return SessionEvent::kOver;
}

SessionEvent StubSession::OnReady(const ProcessState& state, Errands& errands) {
  OutsideOrder& order = std::get<StandIn>(purpose_).order;
  auto fds = TakeDescriptors(process_, pidfd_.get(), control_number_, std::move(order.fds));
  if (!fds) return OnEnded({.exit_code = sys::kCannotExecute, .reason = "pass descriptors: " + ErrnoText(fds.error())});
  order.fds = *std::move(fds);
  order.state = state;
  order.limits = TakeLimits(process_);  // they are not used if the stub has ended
  state_ = State::kStandsIn;
  errands.Start(id_, std::move(order));
  return SessionEvent::kNothing;
}

void StubSession::OnStopped(int signal, unsigned continue_count) {
  (void)Send(control_.get(),
             {.kind = StubOrderKind::kStop, .value = signal, .size = 0, .continue_count = continue_count});
}

// The socket stays open until the stub has ended: a stub that could not send a signal any more would not wait for its
// last order.
SessionEvent StubSession::OnEnded(const Ending& ending) {
  const bool exited = ending.signal == 0;
  state_ = State::kEnds;
  const std::string text = ending.reason.empty() ? std::string() : MakeComplaint(ending.reason);
  const StubOrder order = {.kind = exited ? StubOrderKind::kExit : StubOrderKind::kDie,
                           .value = exited ? ending.exit_code : ending.signal,
                           .size = static_cast<unsigned>(text.size()),
                           .continue_count = 0};
  return Send(control_.get(), order, text);
}

}  // namespace holdfast::escalate
