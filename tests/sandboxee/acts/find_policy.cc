// The act looks for the policy in the command line of every process. The policy would tell where the secrets are.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "sandboxee.h"

int main() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) GiveUp("/proc");
  while (const dirent* entry = ::readdir(processes)) {
    char line[16384];
    const int fd = ::open((std::string("/proc/") + entry->d_name + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? 0 : ::read(fd, line, sizeof line);
    ::close(fd);
    if (size > 0 && std::string_view(line, static_cast<size_t>(size)).contains("project_roots")) return kDone;
  }
  return Refused(ENOENT);
}
