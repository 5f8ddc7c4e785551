// The act sets the name that the machine has already.
#include <unistd.h>

#include <cstring>

#include "sandboxee.h"

int main() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return Judge(::sethostname(name, std::strlen(name)));
}
