#include <sys/socket.h>

#include "addresses.h"
#include "sandboxee.h"

int main(int, char** argv) {
  const InetAddress address(Number(argv, 1));
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? Refused(errno) : Judge(::connect(fd, address.get(), address.size()));
}
