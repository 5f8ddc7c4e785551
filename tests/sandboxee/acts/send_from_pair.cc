// The end of a pair of datagram sockets can send to any address.
#include <sys/socket.h>

#include "addresses.h"
#include "sandboxee.h"

int main(int, char** argv) {
  UnixAddress address(Word(argv, 1));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0) return Refused(errno);
  char text[] = "x";
  iovec piece = {text, 1};
  msghdr message = {};
  message.msg_name = address.get();
  message.msg_namelen = address.size();
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  return Judge(::sendmsg(pair[0], &message, 0));
}
