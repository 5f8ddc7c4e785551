// The act writes the value that the file has already.
#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  char value[4096];
  const int in = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC);
  const ssize_t size = in < 0 ? -1 : ::read(in, value, sizeof value);
  if (size < 0) GiveUp(argv[1]);
  const int out = ::open(argv[1], O_WRONLY | O_CLOEXEC);
  return out < 0 ? Refused(errno) : Judge(::write(out, value, static_cast<size_t>(size)));
}
