#include <sys/socket.h>

#include "addresses.h"
#include "sandboxee.h"

// A client that chooses its own port binds like this.
int main(int, char** argv) {
  const InetAddress address(0);
  const int fd = ::socket(AF_INET, static_cast<int>(Number(argv, 1)), 0);
  return fd < 0 ? Refused(errno) : Judge(::bind(fd, address.get(), address.size()));
}
