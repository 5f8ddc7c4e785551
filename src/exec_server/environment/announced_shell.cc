#include "exec_server/environment/announced_shell.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/paths.h"

namespace holdfast::exec_server {
namespace {

constexpr std::array<std::string_view, 3> kKnownToClients = {"bash", "zsh", "sh"};

// Returns whether `path` is a file that the server may execute. Links are followed, because `/bin/sh` is a link on most
// machines.
bool IsProgram(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

bool IsUsable(const std::string& path) {
  return path.starts_with('/') && std::ranges::find(kKnownToClients, NameOf(path)) != kKnownToClients.end() &&
         IsProgram(path);
}

}  // namespace

wire::Shell AnnouncedShell(std::string_view login_shell, std::span<const std::string> directories) {
  const std::string own(login_shell);
  if (IsUsable(own)) return {std::string(NameOf(own)), own};
  for (const std::string name : {"bash", "sh"}) {
    for (const std::string& directory : directories) {
      const std::string path = fmt::format("{}/{}", directory, name);
      if (IsProgram(path)) return {name, path};
    }
  }
  return {"sh", "/bin/sh"};
}

std::vector<std::string> ShellDirectories(std::string_view search_path) {
  std::vector<std::string> directories = {"/bin", "/usr/bin", "/usr/local/bin"};
  for (const std::string_view directory : DirectoriesIn(search_path)) {
    if (directory.starts_with('/')) directories.emplace_back(directory);
  }
  return directories;
}

}  // namespace holdfast::exec_server
