#include <sys/socket.h>

#include "addresses.h"
#include "sandboxee.h"

int main() {
  const InetAddress address(0);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || ::bind(fd, address.get(), address.size()) < 0) return Refused(errno);
  return Judge(::listen(fd, 1));
}
