#include "sys/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::sys {

void BlockSignals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void LetSignalsIn() {
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

bool IsIgnored(int signal) {
  struct sigaction present{};
  return ::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

// The kernel is called directly, because libc refuses signals 32 and 33, which it uses itself. In a process that was
// started by posix_spawn they are ignored.
void ResetSignalActions() {
  struct {
    void* handler = nullptr;
    unsigned long flags = 0;
    void* restorer = nullptr;
    unsigned long mask = 0;
  } const default_action;
  for (int signal = 1; signal < NSIG; ++signal) {
    (void)::syscall(SYS_rt_sigaction, signal, &default_action, nullptr, sizeof default_action.mask);
  }
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace holdfast::sys
