#include <sys/socket.h>

#include "sandboxee.h"

// The act uses a pair as programs do: messages in both directions, questions about it, a half close.
int main(int, char** argv) {
  int pair[2], type = 0;
  char byte;
  sockaddr_storage name;
  socklen_t name_size = sizeof name, peer_size = sizeof name, type_size = sizeof type;
  if (::socketpair(AF_UNIX, static_cast<int>(Number(argv, 1)), 0, pair) < 0) return Refused(errno);
  const bool fine = ::send(pair[0], "x", 1, 0) == 1 && ::recv(pair[1], &byte, 1, 0) == 1 &&
                    ::sendto(pair[1], "x", 1, 0, nullptr, 0) == 1 &&
                    ::recvfrom(pair[0], &byte, 1, 0, nullptr, nullptr) == 1 &&
                    ::getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 &&
                    ::setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &type, type_size) == 0 &&
                    ::getsockname(pair[0], reinterpret_cast<sockaddr*>(&name), &name_size) == 0 &&
                    ::getpeername(pair[0], reinterpret_cast<sockaddr*>(&name), &peer_size) == 0 &&
                    ::shutdown(pair[0], SHUT_WR) == 0 && ::recv(pair[1], &byte, 1, 0) == 0;
  return fine ? kDone : Refused(errno);
}
