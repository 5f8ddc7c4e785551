// When memory runs out, the kernel would then kill another process.
#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::write(fd, "-1000", 5));
}
