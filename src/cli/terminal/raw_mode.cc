#include "cli/terminal/raw_mode.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace holdfast::cli {
namespace {

// The signals that end a program which does not handle them, and that can be handled.
constexpr auto kEndingSignals =
    std::to_array({SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM});

// The handlers use only these two variables. `raw_terminal` is set last and cleared first.
termios original_settings;
std::atomic<int> raw_terminal = -1;

// Functions that restore are async-signal-safe. A failure is ignored, because nothing else can be done about it.
void Restore() {
  const int terminal = raw_terminal.exchange(-1);
  if (terminal >= 0) ::tcsetattr(terminal, TCSADRAIN, &original_settings);
}

// The action of the signal is the default again when this runs (SA_RESETHAND).
void RestoreAndEnd(int signal) {
  Restore();
  std::raise(signal);
}

// A signal that the caller of this program ignores stays ignored, and one that already has a handler keeps it.
void RestoreAtTheEnd() {
  static const bool once = [] {
    std::atexit(Restore);
    struct sigaction action{};
    action.sa_handler = RestoreAndEnd;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : kEndingSignals) {
      struct sigaction present{};
      if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) {
        ::sigaction(signal, &action, nullptr);
      }
    }
    return true;
  }();
  (void)once;
}

Result<> SetRaw(int fd) {
  termios raw = original_settings;
  ::cfmakeraw(&raw);
  if (::tcsetattr(fd, TCSADRAIN, &raw) < 0) return FailErrno("tcsetattr");
  raw_terminal = fd;
  return {};
}

}  // namespace

Result<RawMode> RawMode::Enter(int fd) {
  CHECK(raw_terminal < 0);
  if (::tcgetattr(fd, &original_settings) < 0) return FailErrno("tcgetattr");
  RestoreAtTheEnd();
  TRY_VOID(SetRaw(fd));
  return RawMode(fd);
}

RawMode::RawMode(RawMode&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RawMode::~RawMode() {
  if (fd_ >= 0) Restore();
}

void RawMode::Suspend() const { Restore(); }

Result<> RawMode::Resume() const { return SetRaw(fd_); }

}  // namespace holdfast::cli
