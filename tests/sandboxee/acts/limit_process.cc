#include <sys/resource.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const rlimit limit = {0, 0};
  return Judge(::prlimit(static_cast<pid_t>(Number(argv, 1)), RLIMIT_CORE, &limit, nullptr));
}
