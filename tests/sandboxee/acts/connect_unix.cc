#include <sys/socket.h>

#include "addresses.h"
#include "sandboxee.h"

int main(int, char** argv) {
  const UnixAddress address(Word(argv, 1));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return fd < 0 ? Refused(errno) : Judge(::connect(fd, address.get(), address.size()));
}
