#include "sandbox/first_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "base/owned_fd.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr int kLost = 128 + SIGKILL;

// To the whole group, as a terminal does it: the shell that waits for a program, and the program.
constexpr std::array kForGroup = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
// To the command alone: they end who does not expect them.
constexpr std::array kForCommand = {SIGUSR1, SIGUSR2};

// Not the signal itself: one that waits to be looked at is not queued twice, whoever sent it. A real-time signal is.
int OrderSignal() { return SIGRTMIN + 1; }

sigset_t Awaited() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {OrderSignal(), SIGCHLD, SIGCONT, SIGIO}) ::sigaddset(&set, signal);
  return set;
}

// Whoever is outside of the pid namespace has no number in it.
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
  const sigset_t awaited = Awaited();
  const OwnedFd signals(::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) return kLost;
  for (;;) {
    pollfd ready[] = {{signals.get(), POLLIN, 0}, {desk_.fd(), POLLIN, 0}};
    if (::poll(ready, std::size(ready), -1) < 0) continue;  // EINTR: stopped and continued from outside
    signalfd_siginfo signal;
    if (sys::Read(signals.get(), &signal, sizeof signal) == sizeof signal) {
      if (const auto status = Take(signal)) return *status;
    }
    if ((ready[1].revents & POLLIN) != 0) {
      desk_.Answer();
    } else if (ready[1].revents != 0) {
      desk_.Close();  // none of those that could ask is left
    }
  }
}

// The status to end with, if this is the end.
std::optional<int> FirstProcess::Take(const signalfd_siginfo& signal) {
  switch (static_cast<int>(signal.ssi_signo)) {
    case SIGCHLD:
      return Reap();
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
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return std::nullopt;
    if (pid != command_) continue;
    if (WIFSTOPPED(status)) {
      StopAlong(WSTOPSIG(status));
    } else {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
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
