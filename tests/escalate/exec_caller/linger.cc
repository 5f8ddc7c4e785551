#include "linger.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace {

// Returns a socket with full buffers and SO_LINGER.
int Connect(const char* port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = {.sin_family = AF_INET,
                               .sin_port = htons(static_cast<in_port_t>(std::atoi(port))),
                               .sin_addr = {htonl(INADDR_LOOPBACK)},
                               .sin_zero = {}};
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::exit(70);
  static const char bytes[1 << 16] = {};
  while (::send(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
  const linger wait = {.l_onoff = 1, .l_linger = 20};
  if (::setsockopt(socket, SOL_SOCKET, SO_LINGER, &wait, sizeof wait) != 0) std::exit(71);
  return socket;
}

void SendFd(int socket, int fd) {
  char byte = 0;
  iovec bytes = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  *part = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  if (::sendmsg(socket, &message, 0) != 1) std::exit(72);
}

}  // namespace

int WithLingeringSockets(char** words) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 73;
  const int queued = Connect(words[0]);
  SendFd(pair[0], queued);
  ::close(queued);
  ::close(pair[0]);
  const int socket = Connect(words[0]);
  for (int i = 0; i < std::atoi(words[1]); ++i) {
    if (::dup(socket) < 0) return 74;
  }
  ::execve(words[2], words + 2, environ);
  std::printf("%s\n", ::strerrorname_np(errno));
  return 0;
}
