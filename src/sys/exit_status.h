// The exit status of a process. The kernel returns it from wait. Linux 6.15 and later also return it by a pidfd after
// the process has been reaped, for as long as the pidfd is open. So a parent that does not need wait for the status can
// let the kernel reap its children, and a command that leaves thousands of dead children behind causes its parent no
// work. The header is usable without libc.
#pragma once

#include <asm/unistd.h>

#include "sys/raw.h"

namespace holdfast::sys {

// Returns the exit status that a shell would show for a process that has ended: its exit code, or 128 + N after signal
// N. `wait_status` is the status that wait4 returns.
constexpr int ExitStatusOf(int wait_status) {
  const int signal = wait_status & 0x7f;
  return signal == 0 ? (wait_status >> 8) & 0xff : 128 + signal;
}

}  // namespace holdfast::sys

namespace holdfast::sys::raw {

// The first version of struct pidfd_info.
struct PidfdInfo {
  unsigned long mask, cgroup;
  unsigned ids[11];
  int exit_code;
};

inline constexpr unsigned long kPidfdInfoExit = 1 << 3;
inline constexpr long kPidfdGetInfo = 0xC040FF0B;  // _IOWR(0xFF, 11, struct pidfd_info)

// Returns the status that wait4 would have returned, or -1 if the process has not been reaped or the kernel does not
// keep the status.
HOLDFAST_RAW int StatusAfterReaping(int pidfd) {
  PidfdInfo info;
  for (unsigned long i = 0; i < sizeof info; ++i) reinterpret_cast<volatile char*>(&info)[i] = 0;
  info.mask = kPidfdInfoExit;
  if (Syscall(__NR_ioctl, pidfd, kPidfdGetInfo, Address(&info)) != 0) return -1;
  return (info.mask & kPidfdInfoExit) != 0 ? info.exit_code : -1;
}

static_assert(sizeof(PidfdInfo) == 64);

}  // namespace holdfast::sys::raw
