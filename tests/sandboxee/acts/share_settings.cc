#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "sandboxee.h"

namespace {

int Write(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  const ssize_t written = ::write(fd, text.data(), text.size());
  ::close(fd);
  return written == static_cast<ssize_t>(text.size()) ? 0 : -1;
}

}  // namespace

// The act makes a repository read its settings from a directory of the act's own. They name a program that `git status`
// runs; the repository's own hooks and configuration stay as they are.
int main(int, char** argv) {
  const std::string git = Word(argv, 1), settings = Word(argv, 2);
  if (::mkdir(settings.c_str(), 0755) < 0 && errno != EEXIST) GiveUp("mkdir");
  if (Write(settings + "/config", "[core]\n\tfsmonitor = false\n") < 0) GiveUp("write");
  return Judge(Write(git + "/commondir", settings + "\n"));
}
