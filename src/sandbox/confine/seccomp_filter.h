// The system call filters are classic BPF programs. A refused call fails with EPERM. clone3, openat2, and calls that
// are newer than the tables of syscall_sets.h, fail with ENOSYS as on an older kernel, and programs fall back to older
// calls. A call by another ABI (32-bit, x32) kills the process.
//
// A filter refuses what this list names, and allows the rest:
//   always          the sets of syscall_sets.h; clone and unshare that make a namespace; ioctls that type into a
//                   terminal or change its line discipline or keyboard; modes with set-user-ID or set-group-ID, and
//                   openat2, which has its mode behind a pointer; leases and notices of fcntl; priorities and limits of
//                   pid 1, of its process group and of a whole user; with namespaces also joining that group
//   open network    sockets that are neither unix, inet (TCP, UDP, ping, MPTCP) nor rtnetlink
//   guarded         as the open network, and what reaches a TCP port without Landlock's rules about ports being asked:
//                   MPTCP sockets, messages with MSG_FASTOPEN, protocols on top of a TCP socket
//   restricted      sockets and pairs that are not unix streams or packet streams; sendto with an address; connect,
//                   bind, listen, accept
//   proxy only      sockets that are not inet; pairs that are not unix streams or packet streams
//   no listening    as proxy only, and listen
//   no namespaces   shared memory and queues; priorities, limits and the like of any process but the caller
//   no mounts       calls that change file attributes; all ioctls but those of terminals and sockets, and a few that
//                   change no file
//
// A filter does not see the memory that a pointer points at. Where that memory matters, the filter refuses the whole
// call, or the objects that the call could be used on: sendmsg has its address in memory, so a command without a
// network gets no unix datagram sockets. A path is behind a pointer too, so without mounts a command cannot change file
// attributes even where it may write.
//
// What a filter does not stop: sendmsg on a datagram socket that the command was given, and signals to processes
// outside, which the pid namespace or Landlock's scope stops.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

using BpfProgram = std::vector<sock_filter>;

// Returns whether the command has a network namespace of its own, from which it reaches nothing but proxies.
constexpr bool IsBehindProxy(Filter filter) {
  return filter == Filter::kProxyOnly || filter == Filter::kProxyNoListening;
}

// The protection that is missing around the command, in whose place the filter does what it can.
enum class StandsFor { kNothing, kNamespaces, kNamespacesAndMounts };

// The code whose calls are filtered. Only a command is refused openat2: our own code uses it to open files without
// following links, and passes no mode that the command has chosen. pid 1 sets the set-group-ID bit of directories on
// behalf of the command, which has another filter on top (set_group_id.h). The file helper copies the bit from
// directory to directory.
enum class Caller { kCommand, kFirstProcess, kFileRequests };

BpfProgram MakeFilter(Filter filter, StandsFor stands_for = StandsFor::kNothing, Caller caller = Caller::kCommand);

// Installs the filter for this thread and all that it starts, for good, and sets no_new_privs. Allocates no memory
// unless it fails.
Result<> InstallFilter(const BpfProgram& program);

}  // namespace holdfast::sandbox
