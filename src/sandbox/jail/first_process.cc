#include "sandbox/jail/first_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <span>
#include <vector>

#include "base/owned_fd.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/kept_status.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {
namespace {

constexpr int kLost = SIGKILL;  // as wait4 returns it for a process that was killed

// Signals for the whole process group, as a terminal sends them: a shell gets them, and the program that it waits for.
constexpr std::array kForGroup = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
// Signals for the command alone, because they end a program that does not expect them.
constexpr std::array kForCommand = {SIGUSR1, SIGUSR2};

// Signals that the kernel sends to pid 1 because it leads the session of a terminal, or is in the foreground of one.
// They are for the command.
constexpr std::array kFromTerminal = {SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};

// The number of children that are reaped before signals are read again.
constexpr int kReapsPerTurn = 64;

// The pause between two rounds of reaping when so many children end that there is always another one to reap.
constexpr int kRestMs = 5;

OwnedFd SignalsOf(std::span<const int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Makes the kernel reap the children of this process, so that they do not become zombies.
void LetKernelReap() {
  struct sigaction action = {};
  action.sa_flags = SA_NOCLDWAIT;
  (void)::sigaction(SIGCHLD, &action, nullptr);  // fails for a bad signal only
}

bool IsFromKernel(const signalfd_siginfo& signal) { return signal.ssi_code == SI_KERNEL; }

bool Contains(const auto& signals, int signal) { return std::ranges::find(signals, signal) != signals.end(); }

bool StopsForTerminal(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

}  // namespace

int FirstProcess::Run() {
  // A command can have children that end without a pause. Reaping them comes after everything else, so that it holds up
  // nothing.
  std::vector<int> watched = {SIGCONT};
  if (control_ != nullptr) watched.insert(watched.end(), kFromTerminal.begin(), kFromTerminal.end());
  const OwnedFd others = SignalsOf(watched), children = SignalsOf(std::array{SIGCHLD});
  if (!others.is_open() || !children.is_open()) return kLost;
  for (;;) {
    pollfd ready[] = {{others.get(), POLLIN, 0},
                      {set_group_id_.fd(), POLLIN, 0},
                      {flooded_ ? -1 : children.get(), POLLIN, 0},
                      {control_ == nullptr || killing_ ? -1 : control_->fd(), POLLIN, 0},
                      {lifeline_ == nullptr ? -1 : lifeline_->fd(), POLLIN, 0}};
    if (::poll(ready, std::size(ready), flooded_ ? kRestMs : -1) < 0) continue;  // stopped and continued from outside
    signalfd_siginfo signal;
    if (sys::Read(others.get(), &signal, sizeof signal) == sizeof signal) {
      OnSignal(signal);
    }
    if (ready[4].revents != 0) {
      if (lifeline_->IsCut()) return kLost;
      if (const auto asked = lifeline_->ReceiveSignal()) PassOn(*asked);
    }
    if ((ready[1].revents & POLLIN) != 0) {
      set_group_id_.Answer();
    } else if ((ready[1].revents & POLLHUP) != 0) {
      set_group_id_.Close();  // no process that could ask is left
    }
    if (ready[3].revents != 0) {
      if (const auto instruction = control_->Receive()) Obey(*instruction);
    }
    if (flooded_ || ready[2].revents != 0) {
      (void)sys::Read(children.get(), &signal, sizeof signal);  // one SIGCHLD may stand for several children
      if (const auto status = Reap()) return *status;
    }
  }
}

void FirstProcess::OnSignal(const signalfd_siginfo& signal) {
  if (signal.ssi_signo != SIGCONT) {
    if (IsFromKernel(signal)) PassOn(static_cast<int>(signal.ssi_signo));
    return;
  }
  // A server sends a SIGCONT before each instruction, because another process may have stopped pid 1. It is not meant
  // for the command.
  if (control_ == nullptr || IsFromKernel(signal)) Continue();
}

// A command that has ended is a zombie until it is reaped here; a signal has no effect on it.
void FirstProcess::PassOn(int signal) {
  if (signal == SIGCONT) return Continue();
  if (Contains(kForCommand, signal)) (void)::kill(command_, signal);
  if (Contains(kForGroup, signal)) (void)::kill(-command_, signal);
}

// One instruction is carried out between two looks at the children, so that a flood of them holds up nothing.
void FirstProcess::Obey(const process::KeeperInstruction& instruction) {
  if (instruction.kind == process::KeeperInstructionKind::kKill) {
    killing_ = true;
    (void)::kill(-1, SIGKILL);
  } else if (instruction.value == SIGCONT) {
    Continue();
  } else {
    (void)::kill(-command_, instruction.value);
  }
}

// The kernel lets no process escape by a fork: a process that is to be killed cannot complete one. Every orphan of the
// pid namespace becomes a child of pid 1.
void FirstProcess::EndAll() {
  (void)::kill(-1, SIGKILL);
  while (::waitpid(-1, nullptr, __WALL) >= 0 || errno == EINTR) {
  }
}

std::optional<int> FirstProcess::Reap() {
  for (int reaped = 0; reaped < kReapsPerTurn; ++reaped) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return EndWithoutZombie();
    if (pid != command_) continue;
    if (!WIFSTOPPED(status)) return status;
    StopAlong(WSTOPSIG(status));
  }
  if (!flooded_) OnFlood();
  return std::nullopt;
}

// Leaves the reaping to the kernel when more children end than there is time to reap. Zombies would use up the process
// numbers of the machine.
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
  return status >= 0 ? std::optional(status) : std::nullopt;
}

// When the command has stopped, pid 1's process group is stopped too, so that a shell outside which waits for the
// sandbox sees its job stop. Without such a shell Ctrl-Z has no effect: the kernel does not let a terminal stop a
// process group that no shell could continue, and the command is continued at once.
void FirstProcess::StopAlong(int signal) {
  if (terminal_ == nullptr) return;
  if (terminal_->InForeground()) {
    // A shell outside has brought the running sandbox to the foreground, so the command gets the terminal.
    terminal_->GiveTo(command_);
    if (signal == SIGTTIN || signal == SIGTTOU) return (void)::kill(-command_, SIGCONT);
  }
  stopped_foreground_ = terminal_->foreground_group();
  if (!terminal_->StopGroup() && StopsForTerminal(signal)) (void)::kill(-command_, SIGCONT);
}

void FirstProcess::Continue() {
  if (terminal_ != nullptr && terminal_->InForeground()) terminal_->GiveTo(stopped_foreground_.value_or(command_));
  stopped_foreground_.reset();
  (void)::kill(-command_, SIGCONT);
}

}  // namespace holdfast::sandbox
