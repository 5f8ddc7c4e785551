#include "exec_server/environment/command_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/plan/own_programs.h"

namespace holdfast::exec_server {
namespace {

bool Names(std::string_view path, std::string_view directory) {
  const std::vector<std::string_view> directories = DirectoriesIn(path);
  return std::ranges::find(directories, directory) != directories.end();
}

// Returns whether `path` belongs to `owner` or to root, and not every user can write it. If the server's programs are
// in a directory like /tmp, another user could have made the directories beside it.
bool IsInstalledBy(uid_t owner, const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0 || S_ISLNK(status.st_mode)) return false;
  return (status.st_uid == owner || status.st_uid == 0) && (status.st_mode & S_IWOTH) == 0;
}

}  // namespace

std::string FindCommandPath(const std::string& program_directory) {
  std::string directory = sandbox::CommandPathBeside(program_directory);
  struct stat programs;
  if (::lstat(program_directory.c_str(), &programs) < 0) return "";
  const std::string tool = directory + "/apply_patch";
  const std::string_view above = ParentOf(directory);
  for (const std::string_view path : {std::string_view(tool), std::string_view(directory), above, ParentOf(above)}) {
    if (!IsInstalledBy(programs.st_uid, std::string(path))) return "";
  }
  // A colon in the name would make PATH read it as two directories.
  return ::access(tool.c_str(), X_OK) == 0 && !directory.contains(':') ? directory : "";
}

void PutFirstInPath(process::Environment& environment, std::string_view directory) {
  const auto path = std::ranges::find(environment, "PATH", &process::Environment::value_type::first);
  if (directory.empty() || path == environment.end() || path->second.empty()) return;
  if (!Names(path->second, directory)) path->second = fmt::format("{}:{}", directory, path->second);
}

}  // namespace holdfast::exec_server
