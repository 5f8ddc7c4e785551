// The system call filters, as classic BPF programs. A refused call gives EPERM. clone3, and numbers newer than the
// tables, give ENOSYS, as by an older kernel: libc has a way around. Another ABI (32-bit, x32) ends the process.
//
// A filter refuses what is listed; the rest is allowed:
//   always          the sets of syscall_sets.h; clone and unshare that make a namespace; ioctls that type into a
//   terminal
//                   or change its line discipline or keyboard
//   open network    sockets that are neither unix, inet (TCP, UDP, ping, MPTCP) nor rtnetlink
//   restricted      sockets and pairs that are not unix streams or packet streams; sendto with an address; connect,
//                   bind, listen, accept
//   proxy only      sockets and pairs that are not inet
//
// What a filter does not see: what pointers point at. Where that matters the call is refused as a whole, or what it
// could be used on: sendmsg names its address in memory, so there are no unix datagram sockets without a network. What
// it does not stop: sendmsg on a datagram socket that the command was given, and signals to processes outside, which
// the pid namespace or Landlock's scope does.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.h"
#include "sandbox/plan.h"

namespace holdfast::sandbox {

using BpfProgram = std::vector<sock_filter>;

BpfProgram MakeFilter(Filter filter);

// For this thread and what it starts, for good. Sets no_new_privs. Allocates nothing unless it fails.
Result<> InstallFilter(const BpfProgram& program);

}  // namespace holdfast::sandbox
