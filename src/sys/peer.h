// Facts about the process at the other end of a local connection, as far as the kernel reports them.
//
// What it does not report: anything about a TCP peer in another network namespace or on another machine.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "base/result.h"
#include "sys/pidfd.h"

namespace holdfast::sys {

// Returns the user to whom the socket at the other end of a TCP connection belongs. There is no SO_PEERCRED for TCP,
// but the kernel's table of sockets has the user. Fails with kNotFound if this network namespace has no such socket:
// the peer is on another machine, or has closed the socket. The call takes about 20 us, and never waits.
Result<uid_t> UserOfTcpPeer(int socket);

// Finds out whether UserOfTcpPeer works on this machine, by a connection of this process with itself.
Result<> TryUserOfTcpPeer();

// Returns the process that made the other end of a unix socket: the one that connected, or the one that listened.
Result<ucred> CredentialsOfUnixPeer(int socket);

enum class PidNamespace {
  kOurs,
  kBelow,      // a namespace of a sandbox or container that was started in ours
  kElsewhere,  // a namespace above ours, or one beside it
};

// The same as a descriptor too. The pid may belong to another process as soon as this one has ended (HasEnded), but the
// pidfd does not. Before Linux 6.5 a process that has got the pid of an ended one is mistaken for it.
Result<Child> UnixPeer(int socket);

// Returns where the process runs that made the other end of a unix socket. Fails if that process has ended, because
// another process may be using its socket then. Before Linux 6.5 a process that has got the pid of an ended one is
// mistaken for it.
Result<PidNamespace> NamespaceOfUnixPeer(int socket);

}  // namespace holdfast::sys
