// The system call filters, as classic BPF programs. A refused call gives EPERM. clone3, and numbers newer than the
// tables, give ENOSYS, as by an older kernel: libc has a way around. Another ABI (32-bit, x32) ends the process.
//
// A filter refuses what is listed; the rest is allowed:
//   always          the sets of syscall_sets.h; clone and unshare that make a namespace; ioctls that type into a
//                   terminal or change its line discipline or keyboard; modes with set-user-ID or set-group-ID, and
//                   openat2, which has its mode behind a pointer; leases and notices of fcntl
//   open network    sockets that are neither unix, inet (TCP, UDP, ping, MPTCP) nor rtnetlink
//   guarded         as the open network, and what reaches a TCP port without Landlock's rules about ports being asked:
//                   MPTCP sockets, messages with MSG_FASTOPEN, protocols on top of a TCP socket
//   restricted      sockets and pairs that are not unix streams or packet streams; sendto with an address; connect,
//                   bind, listen, accept
//   proxy only      sockets that are not inet; pairs that are not unix streams or packet streams
//   no listening    as proxy only, and listen
//   no namespaces   shared memory and queues; priorities, limits and the like of any process but the caller
//   no mounts       file attributes; ioctls but those of terminals and sockets and a few that change no file
//
// What a filter does not see: what pointers point at. Where that matters the call is refused as a whole, or what it
// could be used on: sendmsg names its address in memory, so there are no unix datagram sockets without a network. What
// it does not stop: sendmsg on a datagram socket that the command was given, and signals to processes outside, which
// the pid namespace or Landlock's scope does. Without mounts attributes cannot be changed where writing is allowed
// either: a path, too, is behind a pointer.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

using BpfProgram = std::vector<sock_filter>;

// Whether the command has a network of its own, with proxies in it.
constexpr bool IsBehindProxy(Filter filter) {
  return filter == Filter::kProxyOnly || filter == Filter::kProxyNoListening;
}

// What there is none of around the command, so that the filter does what it can in its place.
enum class StandsFor { kNothing, kNamespaces, kNamespacesAndMounts };

// Whose calls they are. Only a command is refused openat2: our own code opens files with it without following links,
// and takes no mode from anybody. pid 1 gives directories set-group-ID for the command, which has another layer on top
// (set_group_id.h); the file requests that are built into the helper copy it from directory to directory.
enum class Caller { kCommand, kFirstProcess, kFileRequests };

BpfProgram MakeFilter(Filter filter, StandsFor stands_for = StandsFor::kNothing, Caller caller = Caller::kCommand);

// For this thread and what it starts, for good. Sets no_new_privs. Allocates nothing unless it fails.
Result<> InstallFilter(const BpfProgram& program);

}  // namespace holdfast::sandbox
