#include "sys/wait_limit.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace holdfast::sys {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

int InterruptSignal() { return SIGRTMIN + 2; }

// The action has no SA_RESTART: the kernel would repeat an interrupted call otherwise.
void LetInterruptIn() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  (void)::sigaction(InterruptSignal(), &action, nullptr);  // fails only for a bad signal
  sigset_t interrupt;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, InterruptSignal());
  (void)::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

}  // namespace

Result<std::unique_ptr<WaitLimit>> WaitLimit::Create(nanoseconds limit) {
  LetInterruptIn();
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = InterruptSignal();
  event._sigev_un._tid = ::gettid();  // glibc 2.36 has no other name for it
  timer_t timer;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return FailErrno("timer_create", "");
  return std::unique_ptr<WaitLimit>(new WaitLimit(timer, limit));
}

WaitLimit::~WaitLimit() { (void)::timer_delete(timer_); }  // fails only for a timer that does not exist

void WaitLimit::Set(nanoseconds interval) const {
  const int error = errno;
  const auto whole = std::chrono::duration_cast<seconds>(interval);
  const timespec time = {.tv_sec = whole.count(), .tv_nsec = (interval - whole).count()};
  const itimerspec setting = {.it_interval = time, .it_value = time};
  (void)::timer_settime(timer_, 0, &setting, nullptr);  // fails only for a timer that does not exist
  errno = error;
}

}  // namespace holdfast::sys
