#include "sandbox/first_process.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace holdfast::sandbox {
namespace {

// To the whole group, as a terminal does it: the shell that waits for a program, and the program.
constexpr std::array kForGroup = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
// To the command alone: they end who does not expect them.
constexpr std::array kForCommand = {SIGUSR1, SIGUSR2};

sigset_t Awaited() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kForGroup) ::sigaddset(&set, signal);
  for (const int signal : kForCommand) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, SIGCONT);
  return set;
}

bool StopsForTerminal(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

}  // namespace

void SendOrder(int pidfd, int signal) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  (void)::syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0);  // gone already is as good
}

int FirstProcess::Run() {
  const sigset_t awaited = Awaited();
  for (;;) {
    siginfo_t info;
    const int signal = ::sigwaitinfo(&awaited, &info);
    if (signal < 0) continue;  // EINTR: stopped and continued from outside
    if (signal == SIGCHLD) {
      if (const auto status = Reap()) return *status;
    } else if (signal == SIGCONT) {
      Continue();
    } else if (IsOrder(info)) {
      PassOn(signal);
    }
  }
}

// Whoever is outside of the pid namespace has no number in it. With a session of its own pid 1 is in no group that is
// signalled as a whole.
bool FirstProcess::IsOrder(const siginfo_t& signal) const {
  if (signal.si_pid != 0) return false;
  return signal.si_code == SI_QUEUE || terminal_ == nullptr;
}

void FirstProcess::PassOn(int signal) {
  const bool alone = std::ranges::find(kForCommand, signal) != kForCommand.end();
  (void)::kill(alone ? command_ : -command_, signal);  // a zombie takes it too, until it is reaped here
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
  stopped_holder_ = terminal_->holder();
  if (!terminal_->StopGroup() && StopsForTerminal(signal)) (void)::kill(-command_, SIGCONT);
}

void FirstProcess::Continue() {
  if (terminal_ != nullptr && terminal_->InForeground()) terminal_->GiveTo(stopped_holder_.value_or(command_));
  stopped_holder_.reset();
  (void)::kill(-command_, SIGCONT);
}

}  // namespace holdfast::sandbox
