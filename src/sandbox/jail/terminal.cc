#include "sandbox/jail/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace holdfast::sandbox {
namespace {

// SignalMask blocks or unblocks one signal as long as it lives.
class SignalMask {
 public:
  SignalMask(int how, int signal) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ::sigprocmask(how, &set, &before_);
  }
  ~SignalMask() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  sigset_t before_;
};

void Ignore(int) {}

}  // namespace

std::optional<Terminal> Terminal::OfStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::tcgetpgrp(stream) < 0) continue;  // not a terminal, or not the controlling terminal
    OwnedFd fd(::open("/dev/tty", O_RDWR | O_CLOEXEC));
    if (!fd.is_open()) return std::nullopt;
    return Terminal(std::move(fd));
  }
  return std::nullopt;
}

// A read from the background fails even when it asks for no bytes. From the foreground such a read consumes no input.
bool Terminal::InForeground() const {
  const SignalMask blocked(SIG_BLOCK, SIGTTIN);
  char none;
  return ::read(fd_.get(), &none, 0) == 0;
}

std::optional<pid_t> Terminal::foreground_group() const {
  const pid_t group = ::tcgetpgrp(fd_.get());
  return group > 0 ? std::optional(group) : std::nullopt;
}

void Terminal::GiveTo(pid_t group) const {
  const SignalMask blocked(SIG_BLOCK, SIGTTOU);
  (void)::tcsetpgrp(fd_.get(), group);  // fails when the terminal has hung up, or the group has ended
}

void Terminal::TakeBack() const {
  const auto group = foreground_group();
  if (group && ::kill(-*group, 0) < 0 && errno == ESRCH) GiveTo(::getpgrp());
}

// The signal needs a handler: the kernel does not deliver a signal to pid 1 that has none, and would restart tcdrain
// for ever.
bool Terminal::StopGroup() const {
  struct sigaction handler = {}, before;
  handler.sa_handler = Ignore;
  ::sigaction(SIGTTOU, &handler, &before);
  int error = 0;
  {
    const SignalMask let_through(SIG_UNBLOCK, SIGTTOU);
    if (::tcdrain(fd_.get()) < 0) error = errno;
  }
  ::sigaction(SIGTTOU, &before, nullptr);
  return error == EINTR;
}

}  // namespace holdfast::sandbox
