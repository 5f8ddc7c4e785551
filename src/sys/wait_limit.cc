#include "sys/wait_limit.h"

#include <sys/ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

// A system call whose place in the code is known to the signal handler: a thread that is interrupted before the call,
// or in a call that the kernel will repeat, is at _begin, and a thread whose call is done is at _end.
asm(R"(
.pushsection .text
.globl holdfast_repeated_call, holdfast_repeated_call_begin, holdfast_repeated_call_end
.hidden holdfast_repeated_call, holdfast_repeated_call_begin, holdfast_repeated_call_end
.type holdfast_repeated_call, @function
holdfast_repeated_call:
  .cfi_startproc
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
holdfast_repeated_call_begin:
  syscall
holdfast_repeated_call_end:
  ret
  .cfi_endproc
.size holdfast_repeated_call, . - holdfast_repeated_call
.popsection
)");
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names of symbols
[[gnu::visibility("hidden")]] long holdfast_repeated_call(long number, long first, long second, long third,
                                                          long fourth);
[[gnu::visibility("hidden")]] extern const char holdfast_repeated_call_begin, holdfast_repeated_call_end;
// NOLINTEND(readability-identifier-naming)
}

namespace holdfast::sys {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

int InterruptSignal() { return SIGRTMIN + 2; }

greg_t AddressOf(const char& place) { return static_cast<greg_t>(reinterpret_cast<uintptr_t>(&place)); }

void OnInterrupt(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != AddressOf(holdfast_repeated_call_begin)) return;
  registers[REG_RIP] = AddressOf(holdfast_repeated_call_end);
  registers[REG_RAX] = -EINTR;
}

// The action has no SA_RESTART: the kernel would repeat an interrupted call otherwise.
void LetInterruptIn() {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = OnInterrupt;
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

long WaitLimit::CallRepeated(long number, long first, long second, long third, long fourth) {
  return Call([&] { return holdfast_repeated_call(number, first, second, third, fourth); });
}

void WaitLimit::Set(nanoseconds interval) const {
  const int error = errno;
  const auto whole = std::chrono::duration_cast<seconds>(interval);
  const timespec time = {.tv_sec = whole.count(), .tv_nsec = (interval - whole).count()};
  const itimerspec setting = {.it_interval = time, .it_value = time};
  (void)::timer_settime(timer_, 0, &setting, nullptr);  // fails only for a timer that does not exist
  errno = error;
}

}  // namespace holdfast::sys
