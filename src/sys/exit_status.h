// How a process ended. The kernel tells it to wait, and Linux 6.15 and later also by a pidfd after the process has been
// reaped, for as long as the pidfd is open. A parent that does not need wait() for it can have the kernel reap its
// children by themselves, and a command that leaves behind thousands of dead children does not make its parent work.
// Usable without libc.
#pragma once

#include <asm/unistd.h>

#include "sys/raw.h"

namespace holdfast::sys {

// The exit status that a shell would show for a process that has ended: its exit code, or 128 + N after signal N. From
// a status as wait4 gives it.
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

// As wait4 gives it; -1 when the process has not been reaped or the kernel does not keep it.
HOLDFAST_RAW int StatusAfterReaping(int pidfd) {
  PidfdInfo info;
  for (unsigned long i = 0; i < sizeof info; ++i) reinterpret_cast<volatile char*>(&info)[i] = 0;
  info.mask = kPidfdInfoExit;
  if (Syscall(__NR_ioctl, pidfd, kPidfdGetInfo, Address(&info)) != 0) return -1;
  return (info.mask & kPidfdInfoExit) != 0 ? info.exit_code : -1;
}

static_assert(sizeof(PidfdInfo) == 64);

}  // namespace holdfast::sys::raw
