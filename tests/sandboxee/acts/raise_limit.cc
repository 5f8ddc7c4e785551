#include <sys/resource.h>

#include "sandboxee.h"

int main() {
  const rlimit low = {0, 0}, high = {4096, 4096};
  if (::setrlimit(RLIMIT_MSGQUEUE, &low) < 0) GiveUp("setrlimit");
  return Judge(::setrlimit(RLIMIT_MSGQUEUE, &high));
}
