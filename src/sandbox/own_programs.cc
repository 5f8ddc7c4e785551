#include "sandbox/own_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/program_name.h"
#include "sandbox/real_path.h"

namespace holdfast::sandbox {
namespace {

// The owner of a file can change its mode first.
bool CanBeWrittenByUser(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return false;
  return status.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

bool IsOpened(const RuleMap& map, const std::string& path) {
  const PlacedRule* const rule = map.RuleAbout(path);
  return rule != nullptr && rule->rule.access == Access::kWrite && rule->walk.path != "/";
}

}  // namespace

Result<> CheckOwnPrograms(const RuleMap& map, const std::string& directory) {
  const std::optional<std::string> real = directory.empty() ? std::nullopt : RealPath(directory);
  if (!real) return {};
  const std::array paths = {*real, *real + "/holdfast", fmt::format("{}/{}", *real, kProgramName),
                            *real + "/holdfast-resources", *real + "/holdfast-resources/bwrap"};
  for (const std::string& path : paths) {
    if (!IsOpened(map, path) || !CanBeWrittenByUser(path)) continue;
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("the policy lets the command write {}, where holdfast's own programs are: install them "
                            "elsewhere, or grant less",
                            path));
  }
  return {};
}

}  // namespace holdfast::sandbox
