#include "cli/private_server/runtime_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/environment_variable.h"

namespace holdfast::cli {
namespace {

constexpr mode_t kOwnerOnly = 0700, kOthers = 0077;

std::unexpected<Error> Unsafe(const std::string& path, std::string_view reason) {
  return Fail(
      ErrorKind::kPermissionDenied,
      fmt::format("the directory {} {}; remove it, or set XDG_RUNTIME_DIR to a directory of your own", path, reason));
}

}  // namespace

RuntimeDir FindRuntimeDir() {
  const std::string given = EnvironmentVariable("XDG_RUNTIME_DIR").value_or("");
  if (given.starts_with('/')) return {given + "/holdfast"};
  return {fmt::format("/tmp/holdfast-{}", ::geteuid())};
}

Result<> PrepareRuntimeDir(const RuntimeDir& directory) {
  if (::mkdir(directory.path.c_str(), kOwnerOnly) < 0 && errno != EEXIST) return FailErrno("mkdir", directory.path);
  return CheckRuntimeDir(directory);
}

Result<> CheckRuntimeDir(const RuntimeDir& directory) {
  struct stat status{};
  if (::lstat(directory.path.c_str(), &status) < 0) return FailErrno("stat", directory.path);
  if (!S_ISDIR(status.st_mode)) return Unsafe(directory.path, "is a link or a file");
  if (status.st_uid != ::geteuid()) return Unsafe(directory.path, "belongs to another user");
  if ((status.st_mode & kOthers) != 0) return Unsafe(directory.path, "is open to other users");
  return {};
}

}  // namespace holdfast::cli
