#include "sandbox/jail/first_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <iterator>

#include "base/owned_fd.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/kept_status.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {
namespace {

constexpr int kLost = 128 + SIGKILL;

// To the whole group, as a terminal does it: the shell that waits for a program, and the program.
constexpr std::array kForGroup = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
// To the command alone: they end a program that does not expect them.
constexpr std::array kForCommand = {SIGUSR1, SIGUSR2};

// Not the signal itself: one that waits to be looked at is not queued twice, whatever process sent it. A real-time
// signal is.
int OrderSignal() { return SIGRTMIN + 1; }

// How many children are reaped before signals are looked at again.
constexpr int kReapsPerTurn = 64;

// How long children are left alone when so many end that there is always another one to reap.
constexpr int kRestMs = 5;

OwnedFd SignalsOf(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Children do not become zombies from here on.
void LetKernelReap() {
  struct sigaction action = {};
  action.sa_flags = SA_NOCLDWAIT;
  (void)::sigaction(SIGCHLD, &action, nullptr);  // fails for a bad signal only
}

// A process outside of the pid namespace has no number in it.
bool IsFromOutside(const signalfd_siginfo& signal) { return signal.ssi_pid == 0 && signal.ssi_code == SI_QUEUE; }

bool Contains(const auto& signals, int signal) { return std::ranges::find(signals, signal) != signals.end(); }

bool StopsForTerminal(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

}  // namespace

bool SendOrder(int pidfd, int signal) {
  siginfo_t info = {};
  info.si_signo = OrderSignal();
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = signal;
  // Gone already is as good.
  return ::syscall(SYS_pidfd_send_signal, pidfd, info.si_signo, &info, 0) == 0 || errno != EAGAIN;
}

int FirstProcess::Run() {
  // A command can have children end without a pause: they have their turn after everything else.
  const OwnedFd others = SignalsOf({OrderSignal(), SIGCONT, SIGIO}), children = SignalsOf({SIGCHLD});
  if (!others.is_open() || !children.is_open()) return kLost;
  for (;;) {
    pollfd ready[] = {
        {others.get(), POLLIN, 0}, {set_group_id_.fd(), POLLIN, 0}, {flooded_ ? -1 : children.get(), POLLIN, 0}};
    if (::poll(ready, std::size(ready), flooded_ ? kRestMs : -1) < 0) continue;  // stopped and continued from outside
    signalfd_siginfo signal;
    if (sys::Read(others.get(), &signal, sizeof signal) == sizeof signal) {
      if (const auto status = Take(signal)) return *status;
    }
    if ((ready[1].revents & POLLIN) != 0) {
      set_group_id_.Answer();
    } else if ((ready[1].revents & POLLHUP) != 0) {
      set_group_id_.Close();  // nobody who could ask is left
    }
    if (flooded_ || ready[2].revents != 0) {
      (void)sys::Read(children.get(), &signal, sizeof signal);  // says no more than that there are some
      if (const auto status = Reap()) return *status;
    }
  }
}

// The status to end with, if this is the end.
std::optional<int> FirstProcess::Take(const signalfd_siginfo& signal) {
  switch (static_cast<int>(signal.ssi_signo)) {
    case SIGCONT:
      Continue();
      break;
    case SIGIO:
      if (lifeline_ != nullptr && lifeline_->IsCut()) return kLost;
      break;
    default:
      if (IsFromOutside(signal)) PassOn(signal.ssi_int);
  }
  return std::nullopt;
}

// A zombie takes a signal too, until it is reaped here.
void FirstProcess::PassOn(int signal) {
  if (signal == SIGCONT) return Continue();
  if (Contains(kForCommand, signal)) (void)::kill(command_, signal);
  if (Contains(kForGroup, signal)) (void)::kill(-command_, signal);
}

std::optional<int> FirstProcess::Reap() {
  for (int reaped = 0; reaped < kReapsPerTurn; ++reaped) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return EndWithoutZombie();
    if (pid != command_) continue;
    if (!WIFSTOPPED(status)) return sys::ExitStatusOf(status);
    StopAlong(WSTOPSIG(status));
  }
  if (!flooded_) OnFlood();
  return std::nullopt;
}

// More children end than there is time to reap. Zombies would use up the numbers of processes that the machine has.
void FirstProcess::OnFlood() {
  flooded_ = true;
  auto pidfd = sys::OpenPidfd(command_);
  if (!pidfd || !sys::KeepsExitStatus()) return;
  command_fd_ = *std::move(pidfd);
  LetKernelReap();
}

std::optional<int> FirstProcess::EndWithoutZombie() const {
  if (!command_fd_.is_open()) return std::nullopt;
  const int status = sys::raw::StatusAfterReaping(command_fd_.get());
  return status >= 0 ? std::optional(sys::ExitStatusOf(status)) : std::nullopt;
}

// A shell outside that waits for the sandbox is to see that its job has stopped. Where there is none, Ctrl-Z has no
// effect: a process without anybody who could continue it is not stopped from a terminal.
void FirstProcess::StopAlong(int signal) {
  if (terminal_ == nullptr) return;
  if (terminal_->InForeground()) {
    // A shell has given the terminal to a job that was running.
    terminal_->GiveTo(command_);
    if (signal == SIGTTIN || signal == SIGTTOU) return (void)::kill(-command_, SIGCONT);
  }
  stopped_holder_ = terminal_->holder();
  if (!terminal_->StopGroup() && StopsForTerminal(signal)) (void)::kill(-command_, SIGCONT);
}

void FirstProcess::Continue() {
  if (terminal_ != nullptr && terminal_->InForeground()) terminal_->GiveTo(stopped_holder_.value_or(command_));
  stopped_holder_.reset();
  (void)::kill(-command_, SIGCONT);
}

}  // namespace holdfast::sandbox
