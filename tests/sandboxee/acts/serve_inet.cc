#include <sys/socket.h>
#include <unistd.h>

#include "addresses.h"
#include "sandboxee.h"

// The act is a server on a given port, or on one that the kernel chooses, and a client of it. The server stays until
// its standard input is at its end.
int main(int, char** argv) {
  const InetAddress wanted(Number(argv, 1));
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int server = ::socket(AF_INET, SOCK_STREAM, 0), client = ::socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || client < 0 || ::bind(server, wanted.get(), wanted.size()) < 0) return Refused(errno);
  if (::listen(server, 1) < 0 || ::getsockname(server, generic, &size) < 0) return Refused(errno);
  if (::connect(client, generic, size) < 0 || ::accept(server, nullptr, nullptr) < 0) return Refused(errno);
  std::puts("serving");
  std::fflush(stdout);
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return kDone;
}
