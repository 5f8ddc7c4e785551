#include "sandbox/plan/own_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

// Returns whether this user could write the file. The mode does not matter to the owner, who can change it.
bool CanBeWrittenByUser(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return false;
  return status.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

// Returns whether the directory is like /tmp: it has the sticky bit and belongs to another user, so that this user
// cannot rename files of others in it.
bool IsStickyOfAnotherUser(const std::string& path) {
  struct stat status;
  return ::geteuid() != 0 && ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_ISVTX) != 0 &&
         status.st_uid != ::geteuid();
}

bool IsOpened(const RuleMap& map, std::string_view path) {
  const PlacedRule* const rule = map.RuleAbout(path);
  return rule != nullptr && rule->rule.access == Access::kWrite && rule->walk.path != "/";
}

std::unexpected<Error> Refuse(std::string_view path) {
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("the policy lets the command write {}, where holdfast's own programs are: install them "
                          "elsewhere, or grant less",
                          path));
}

}  // namespace

std::string CommandPathBeside(std::string_view directory) {
  const std::string_view prefix = ParentOf(directory);
  return fmt::format("{}/libexec/holdfast/path", prefix == "/" ? "" : prefix);
}

Result<> CheckOwnPrograms(const RuleMap& map, const std::string& directory) {
  const std::optional<std::string> real = directory.empty() ? std::nullopt : RealPath(directory);
  if (!real) return {};
  const std::string command_path = CommandPathBeside(*real);
  const std::array paths = {*real,
                            *real + "/holdfast",
                            fmt::format("{}/{}", *real, kProgramName),
                            *real + "/holdfast-resources",
                            *real + "/holdfast-resources/bwrap",
                            command_path,
                            command_path + "/apply_patch",
                            std::string(ParentOf(command_path)),
                            std::string(ParentOf(ParentOf(command_path)))};
  for (const std::string& path : paths) {
    if (IsOpened(map, path) && CanBeWrittenByUser(path)) return Refuse(path);
  }
  // In a directory above that can be written, the command could put another directory in the place of this one.
  for (std::string_view above = ParentOf(*real); IsOpened(map, above); above = ParentOf(above)) {
    if (!IsStickyOfAnotherUser(std::string(above)) && CanBeWrittenByUser(std::string(above))) return Refuse(above);
  }
  return {};
}

}  // namespace holdfast::sandbox
