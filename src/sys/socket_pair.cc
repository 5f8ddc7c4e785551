#include "sys/socket_pair.h"

#include <sys/socket.h>

namespace holdfast::sys {

Result<SocketPair> MakeSocketPair(SocketKind kind) {
  const int type = kind == SocketKind::kStream ? SOCK_STREAM : SOCK_SEQPACKET;
  int fds[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0) return FailErrno("socketpair");
  return SocketPair{.ours = OwnedFd(fds[0]), .theirs = OwnedFd(fds[1])};
}

}  // namespace holdfast::sys
