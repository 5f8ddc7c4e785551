// Facts about the process at the other end of a local connection, as far as the kernel tells them.
//
// What it does not tell: anything about a TCP peer in another network namespace or on another machine.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace holdfast::sys {

// Returns the user to whom the socket at the other end of a TCP connection belongs. There is no SO_PEERCRED for TCP,
// but the kernel's table of sockets has the user. Fails with kNotFound if this network namespace has no such socket:
// the peer is on another machine, or has closed the socket. The call takes about 20 us, and never waits.
Result<uid_t> UserOfTcpPeer(int socket);

// Finds out whether UserOfTcpPeer works on this machine, by a connection of this process with itself.
Result<> TryUserOfTcpPeer();

enum class PidNamespace {
  kBelow,      // a namespace of a sandbox or container that was started in ours
  kElsewhere,  // our own namespace, one above ours, or one beside it
};

// Returns where the process runs that has connected a unix socket to us. Fails if that process has ended, because
// another process may be using its socket then. Before Linux 6.5 a process that has got the pid of an ended one is
// mistaken for it.
Result<PidNamespace> NamespaceOfUnixPeer(int socket);

}  // namespace holdfast::sys
