// ask_socket PATH: opens a session on the unix socket of a server, as a client does.
#include <sys/socket.h>

#include <string_view>

#include "addresses.h"
#include "sandboxee.h"

int main(int, char** argv) {
  const UnixAddress address(Word(argv, 1));
  constexpr std::string_view request = "{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientName\":\"act\"}}\n";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || ::connect(fd, address.get(), address.size()) < 0) return Refused(errno);
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return Refused(errno);
  char answer[64];
  const ssize_t size = ::recv(fd, answer, sizeof answer, 0);
  return size > 0 ? kDone : Refused(size < 0 ? errno : ECONNRESET);
}
