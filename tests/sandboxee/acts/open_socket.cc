// open_socket FAMILY TYPE PROTOCOL
#include <sys/socket.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const auto word = [&](int index) { return static_cast<int>(Number(argv, index)); };
  return Judge(::socket(word(1), word(2), word(3)));
}
