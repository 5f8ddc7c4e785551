// System calls without libc, errno or thread-local storage; they return -errno. They are for code that runs between
// clone and exec and shares memory with its parent, for code that runs before libc is started, and for the freestanding
// programs, which have no libc at all.
// Everything is inlined, so that no sanitizer or stack protector adds code. The header is for Linux on x86-64.
#pragma once

#include <asm/unistd.h>
#include <linux/sched.h>

namespace holdfast::sys::raw {

#define HOLDFAST_RAW [[gnu::always_inline]] inline

HOLDFAST_RAW long Syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

HOLDFAST_RAW long Address(const void* pointer) { return reinterpret_cast<long>(pointer); }

HOLDFAST_RAW long Open(const char* path, int flags) { return Syscall(__NR_openat, -100, Address(path), flags, 0); }
HOLDFAST_RAW long Close(int fd) { return Syscall(__NR_close, fd); }
HOLDFAST_RAW long Read(int fd, void* buffer, unsigned long size) {
  return Syscall(__NR_read, fd, Address(buffer), static_cast<long>(size));
}
HOLDFAST_RAW long Write(int fd, const void* bytes, unsigned long size) {
  return Syscall(__NR_write, fd, Address(bytes), static_cast<long>(size));
}
HOLDFAST_RAW long Kill(int pid, int signal) { return Syscall(__NR_kill, pid, signal); }
HOLDFAST_RAW long Prctl(int option, unsigned long value) {
  return Syscall(__NR_prctl, option, static_cast<long>(value), 0, 0, 0);
}

HOLDFAST_RAW long PidfdOpen(int pid) { return Syscall(__NR_pidfd_open, pid, 0); }
HOLDFAST_RAW long PidfdSignal(int pidfd, int signal, unsigned flags = 0) {
  return Syscall(__NR_pidfd_send_signal, pidfd, signal, 0, flags);
}

[[noreturn]] HOLDFAST_RAW void Exit(int code) {
  for (;;) Syscall(__NR_exit_group, code);
}

// Runs `child(argument)` in another process, on the stack that `args` names. Clone3 returns in the parent only.
HOLDFAST_RAW long Clone3(clone_args* args, void (*child)(void*), void* argument) {
  long result;
  register void (*r8)(void*) asm("r8") = child;
  register void* r9 asm("r9") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r9, %%rdi\n\t"
      "call *%%r8\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "a"(__NR_clone3), "D"(args), "S"(sizeof(clone_args)), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace holdfast::sys::raw
