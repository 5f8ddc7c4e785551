#include "cli/runs/signal_relay.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>
#include <vector>

#include "cli/terminal/screen.h"
#include "sys/signal_name.h"
#include "sys/signals.h"

namespace holdfast::cli {
namespace {

constexpr auto kPassedOn = std::to_array<std::pair<int, const char*>>({{SIGINT, "SIGINT"},
                                                                       {SIGTERM, "SIGTERM"},
                                                                       {SIGHUP, "SIGHUP"},
                                                                       {SIGQUIT, "SIGQUIT"},
                                                                       {SIGUSR1, "SIGUSR1"},
                                                                       {SIGUSR2, "SIGUSR2"},
                                                                       {SIGALRM, "SIGALRM"}});

// A signal that the caller of this program ignores, as nohup does with SIGHUP, stays ignored.
std::vector<int> WatchedSignals(SignalRelay::Kind kind) {
  std::vector<int> signals = {SIGCONT};
  for (const auto& [signal, name] : kPassedOn) {
    if (!sys::IsIgnored(signal)) signals.push_back(signal);
  }
  if (kind == SignalRelay::Kind::kTerminal) signals.push_back(SIGWINCH);
  if (kind == SignalRelay::Kind::kPipes && !sys::IsIgnored(SIGTSTP)) signals.push_back(SIGTSTP);
  return signals;
}

const char* NameOf(int signal) {
  for (const auto& [number, name] : kPassedOn) {
    if (number == signal) return name;
  }
  return "SIGTERM";
}

}  // namespace

void StopThisProgram() { ::kill(::getpid(), SIGSTOP); }

SignalRelay::SignalRelay(loop::EventLoop& loop, Driver& driver, Kind kind, Wakeup& changed)
    : driver_(driver),
      changed_(changed),
      watch_(loop, WatchedSignals(kind), [this](int signal) { OnSignal(signal); }) {}

bool SignalRelay::TakeContinued() { return std::exchange(continued_, false); }

void SignalRelay::OnSignal(int signal) {
  switch (signal) {
    case SIGWINCH:
      return scope_.Start(PassOnSize());
    case SIGTSTP:
      if (!std::exchange(stopping_, true)) scope_.Start(StopTogether());
      return;
    case SIGCONT:
      continued_ = true;
      return changed_.NotifyLater();
    case SIGINT:
    case SIGTERM:
      ++asked_to_end_;
      last_signal_ = signal;
      changed_.NotifyLater();
      break;
    default:
      break;
  }
  scope_.Start(PassOn(signal));
}

// A failure is not reported: the end of the process, or of the connection, is reported elsewhere.
loop::Task<> SignalRelay::PassOn(int signal) { (void)co_await driver_.Signal(NameOf(signal)); }

loop::Task<> SignalRelay::PassOnSize() {
  if (const auto size = WindowSizeOf(STDIN_FILENO)) {
    (void)co_await driver_.Resize({.rows = size->rows, .cols = size->cols});  // the process may have ended
  }
}

// The process gets SIGSTOP and not SIGTSTP, which the kernel does not deliver to a process group without a shell.
loop::Task<> SignalRelay::StopTogether() {
  (void)co_await driver_.Signal("SIGSTOP");
  StopThisProgram();
  (void)co_await driver_.Signal("SIGCONT");
  stopping_ = false;
}

}  // namespace holdfast::cli
