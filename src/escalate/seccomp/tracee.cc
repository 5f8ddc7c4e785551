#include "escalate/seccomp/tracee.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace holdfast::escalate {
namespace {

constexpr unsigned long kSyscallBytes = 2;  // the length of the instruction

unsigned long Trace(auto request, pid_t tid, unsigned long data) {
  return static_cast<unsigned long>(::ptrace(request, tid, nullptr, data));
}

bool StopsProcess(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

OrErrno<Tracee> Tracee::Seize(pid_t tid, pid_t process, sys::WaitLimit* limit) {
  const long result = limit != nullptr ? limit->CallRepeated(SYS_ptrace, PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC)
                                       : ::ptrace(PTRACE_SEIZE, tid, nullptr, PTRACE_O_TRACEEXEC);
  if (result == 0) return Tracee(tid, process);
  return std::unexpected(result == -EINTR ? EAGAIN : EPERM);
}

bool Tracee::Interrupt() {
  const bool is_traced = Trace(PTRACE_INTERRUPT, tid_, 0) == 0;
  if (state_ == State::kRuns) state_ = State::kIsStopping;
  return is_traced;
}

void Tracee::ExpectNothing() {
  if (state_ == State::kIsStopping) state_ = State::kRuns;
}

// A thread that executes a program becomes the first thread of its process, and gets the number of that.
Tracee::Event Tracee::Poll() {
  if (state_ == State::kGone) return {.kind = Event::Kind::kGone};
  if (state_ == State::kStopped) return {};
  for (;;) {
    int status = 0;
    pid_t changed = ::waitpid(tid_, &status, WNOHANG | __WALL);
    if (changed < 0 && tid_ != process_) changed = ::waitpid(process_, &status, WNOHANG | __WALL);
    if (changed == 0) return {};
    if (changed < 0 || !WIFSTOPPED(status)) {
      state_ = State::kGone;
      return {.kind = Event::Kind::kGone};
    }
    const Event event = OnStop(status);
    if (event.kind != Event::Kind::kNothing) return event;
  }
}

// The kernel stops a traced thread for each signal that it gets: the signal is passed on. It also reports the stops by
// job control. They go on as without a tracer.
Tracee::Event Tracee::OnStop(int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) {
    tid_ = process_;
    state_ = State::kStopped;
    return {.kind = Event::Kind::kExecuted};
  }
  if (event != PTRACE_EVENT_STOP) {
    (void)Trace(PTRACE_CONT, tid_, static_cast<unsigned long>(signal));
    return {};
  }
  state_ = StopsProcess(signal) ? State::kStoppedByUser : State::kStopped;
  return {.kind = Event::Kind::kReturned};
}

OrErrno<> Tracee::Redirect(const ExecCall& call, int fd, uint64_t path_end) {
  user_regs_struct registers;
  if (::ptrace(PTRACE_GETREGS, tid_, nullptr, &registers) != 0) return std::unexpected(ESRCH);
  registers.rax = SYS_execveat;
  registers.rdi = static_cast<unsigned long>(fd);
  registers.rsi = path_end;
  registers.rdx = call.argv;
  registers.r10 = call.envp;
  registers.r8 = AT_EMPTY_PATH;
  registers.orig_rax = ~0UL;  // the thread is in no system call, so the kernel restarts none
  registers.rip -= kSyscallBytes;
  if (::ptrace(PTRACE_SETREGS, tid_, nullptr, &registers) != 0) return std::unexpected(ESRCH);
  BlockSignals();
  Continue();
  return {};
}

// Both functions fail only for a thread that is gone. The address is the size of a mask in the kernel.
void Tracee::BlockSignals() {
  uint64_t mask = 0;
  if (::ptrace(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask) != 0) return;
  const uint64_t all = ~uint64_t{0};
  if (::ptrace(PTRACE_SETSIGMASK, tid_, sizeof all, &all) == 0) former_mask_ = mask;
}

void Tracee::UnblockSignals() {
  if (!former_mask_) return;
  const uint64_t mask = *std::exchange(former_mask_, std::nullopt);
  (void)::ptrace(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask);
}

OrErrno<int64_t> Tracee::Returned() const {
  user_regs_struct registers;
  if (::ptrace(PTRACE_GETREGS, tid_, nullptr, &registers) != 0) return std::unexpected(ESRCH);
  return static_cast<int64_t>(registers.rax);
}

// A thread that job control has stopped stays so until a SIGCONT comes, and then stops for its tracer once more.
void Tracee::Continue() {
  const bool listens = std::exchange(state_, State::kRuns) == State::kStoppedByUser;
  (void)Trace(listens ? PTRACE_LISTEN : PTRACE_CONT, tid_, 0);  // fails only if the thread is gone
}

// A stopped thread that is killed goes on to its end, and can then no longer be detached.
bool Tracee::Release() {
  if (state_ == State::kRuns || state_ == State::kIsStopping) (void)Poll();
  if (state_ == State::kStopped || state_ == State::kStoppedByUser) {
    UnblockSignals();
    state_ = Trace(PTRACE_DETACH, tid_, 0) == 0 ? State::kGone : State::kIsStopping;
  }
  return state_ == State::kGone;
}

// While a process is traced, no other process can get its number.
void Tracee::Kill() {
  (void)::kill(process_, SIGKILL);  // fails only if the process has ended
  state_ = State::kIsStopping;
}

}  // namespace holdfast::escalate
