#include "escalate/wrapper/stand_in.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "escalate/stand_in/own_signals.h"
#include "escalate/wrapper/inheritance.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/signals.h"
#include "sys/write_all.h"

namespace holdfast::escalate {
namespace {

// The exit code when the server has ended the command, as it does at a time limit. Everything else that belongs to the
// call ends then too.
constexpr int kServerGone = 1;

sigset_t PassedSignals() {
  sigset_t passed;
  ::sigfillset(&passed);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if ((kOwnSignals & SignalBit(signal)) != 0) ::sigdelset(&passed, signal);
  }
  return passed;
}

Result<OwnedFd> CatchSignals() {
  const sigset_t passed = PassedSignals();
  ::sigprocmask(SIG_BLOCK, &passed, nullptr);
  OwnedFd signals(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) return FailErrno("signalfd");
  return signals;
}

// A process that is not dumpable leaves no core file, whatever its limit and the machine's settings are.
int DieBy(int signal) {
  ::prctl(PR_SET_DUMPABLE, 0);
  (void)::signal(signal, SIG_DFL);  // SIGKILL has no other action, and that is the only failure
  sys::LetSignalsIn();
  ::raise(signal);
  return 128 + signal;
}

class Waiting {
 public:
  Waiting(ServerLink& server, const std::string& file, OwnedFd signals)
      : server_(server), file_(file), signals_(std::move(signals)) {}

  // Returns the exit code of the command.
  Result<int> AwaitEnd() {
    for (;;) {
      pollfd ready[] = {{.fd = server_.fd(), .events = POLLIN, .revents = 0},
                        {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
      if (::poll(ready, 2, -1) < 0 && errno != EINTR) return FailErrno("poll");
      if (ready[1].revents != 0) TRY_VOID(PassSignalsOn());
      if (ready[0].revents == 0) continue;
      TRY(const auto exit_code, ReadNews());
      if (exit_code) return *exit_code;
    }
  }

 private:
  Result<> PassSignalsOn() {
    signalfd_siginfo caught;
    while (sys::Read(signals_.get(), &caught, sizeof caught) == sizeof caught) {
      const auto signal = static_cast<int>(caught.ssi_signo);
      if (signal == SIGCONT) ++continue_count_;
      TRY_VOID(server_.Send(EncodeSignal(signal)));
    }
    return {};
  }

  // Returns the exit code if the command has ended. A stop that the command has been continued after is over.
  Result<std::optional<int>> ReadNews() {
    TRY(const auto text, server_.Receive());
    if (!text) return kServerGone;
    TRY(const CommandNews news, DecodeNews(*text));
    if (news.kind == CommandNews::Kind::kStopped) {
      if (news.continue_count == continue_count_) ::raise(SIGSTOP);
      return std::nullopt;
    }
    if (news.reason) {
      sys::WriteAll(STDERR_FILENO, fmt::format("holdfast-execve-wrapper: {}: {}\n", file_, *news.reason));
    }
    return news.signal != 0 ? DieBy(news.signal) : news.exit_code;
  }

  ServerLink& server_;
  const std::string& file_;
  OwnedFd signals_;  // not open if no signals are passed on
  uint64_t continue_count_ = 0;
};

}  // namespace

Result<int> StandInForCommand(ServerLink& server, const ExecAnswer& answer, const std::string& file,
                              int datagram_socket) {
  HandOver hand_over;
  OwnedFd signals;
  if (answer.takes_everything) {
    TRY(hand_over.fds, InheritedFds(datagram_socket));
    if (hand_over.fds.size() > sys::kMaxPassedFds) return Fail(ErrorKind::kLimit, "too many descriptors are open");
    hand_over.state = InheritedState();
    TRY(signals, CatchSignals());
  } else {
    hand_over.fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  }
  TRY_VOID(server.Send(Encode(hand_over), hand_over.fds));
  return Waiting(server, file, std::move(signals)).AwaitEnd();
}

}  // namespace holdfast::escalate
