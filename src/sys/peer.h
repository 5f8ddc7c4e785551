// The process at the other end of a local connection, as far as the kernel tells.
//
// What it does not tell: anything about a TCP peer in another network namespace or on another machine.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace holdfast::sys {

// The user to whom the socket at the other end of a TCP connection belongs. There is no SO_PEERCRED for TCP, but the
// kernel's table of sockets says it. kNotFound when this network namespace has no such socket: the peer is on another
// machine, or has closed it. Takes some 20 us, and never waits.
Result<uid_t> UserOfTcpPeer(int socket);

// Whether that works on this machine: tried on a connection of this process with itself.
Result<> TryUserOfTcpPeer();

enum class PidNamespace {
  kBelow,      // of a sandbox or a container that was started in ours
  kElsewhere,  // ours, or one that ours is below of or beside
};

// Where the process runs that connected a unix socket to us. Fails when that process has ended: another one may use its
// socket by then. Before Linux 6.5 a process that has got the number of an ended one is taken for it.
Result<PidNamespace> NamespaceOfUnixPeer(int socket);

}  // namespace holdfast::sys
