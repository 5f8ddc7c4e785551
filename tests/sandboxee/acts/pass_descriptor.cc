#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "sandboxee.h"

int main() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) return Refused(errno);
  char text[] = "x";
  iovec piece = {text, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &pair[1], sizeof(int));
  if (::sendmsg(pair[0], &message, 0) < 0) return Refused(errno);
  return Judge(::recvmsg(pair[1], &message, 0));
}
