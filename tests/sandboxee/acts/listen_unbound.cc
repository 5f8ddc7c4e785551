#include <sys/socket.h>

#include "sandboxee.h"

int main() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? Refused(errno) : Judge(::listen(fd, 1));
}
