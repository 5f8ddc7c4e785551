#include "runtime_dir/runtime_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/paths.h"

namespace holdfast::runtime_dir {
namespace {

constexpr mode_t kOwnerOnly = 0700, kOthers = 0077;

std::unexpected<Error> Unsafe(const std::string& path, std::string_view reason) {
  return Fail(
      ErrorKind::kPermissionDenied,
      fmt::format("the directory {} {}; remove it, or set XDG_RUNTIME_DIR to a directory of your own", path, reason));
}

// Returns the path of `name` in the directory that a variable names. A relative path counts as no value.
std::optional<std::string> Below(const char* variable, std::string_view name) {
  auto path = EnvironmentVariable(variable);
  if (!path || !path->starts_with('/')) return std::nullopt;
  while (path->ends_with('/')) path->pop_back();
  return path->append(name);
}

std::optional<std::string> GivenPlace() { return Below("XDG_RUNTIME_DIR", "/holdfast"); }
std::string LoginPlace() { return fmt::format("/run/user/{}/holdfast", ::geteuid()); }
std::optional<std::string> HomePlace() { return Below("HOME", "/.cache/holdfast"); }

bool IsOurDirectory(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

// Any user could have made a directory in one that all users may write, such as /tmp, or could keep this user from
// making it.
Result<> CheckPlace(const std::string& path) {
  const std::string above(ParentOf(path));
  if (NameOf(above) == ".cache") TRY_VOID(CheckPlace(above));  // a home may be such a directory too
  struct stat status;
  if (::stat(above.c_str(), &status) < 0 || (status.st_mode & S_IWOTH) == 0) return {};
  return Unsafe(path, fmt::format("would lie in {}, which all users may write", above));
}

Result<> MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), kOwnerOnly) == 0 || errno == EEXIST) return {};
  Error error = ErrnoError("mkdir", path, errno);
  error.message += "; set XDG_RUNTIME_DIR to a directory of your own, or name a server by --server";
  return std::unexpected(std::move(error));
}

Result<> Make(const std::string& path) {
  const std::string above(ParentOf(path));
  struct stat status;
  // ~/.cache is made as well, but not a directory that XDG_RUNTIME_DIR names, nor a home.
  if (NameOf(above) == ".cache") {
    TRY_VOID(MakeDirectory(above));
  } else if (::stat(above.c_str(), &status) < 0 && errno == ENOENT) {
    return Fail(ErrorKind::kNotFound, fmt::format("mkdir {}: there is no directory {}; unset XDG_RUNTIME_DIR, or set "
                                                  "it to a directory of your own",
                                                  path, above));
  }
  return MakeDirectory(path);
}

}  // namespace

Result<RuntimeDir> FindRuntimeDir() {
  if (auto given = GivenPlace()) return RuntimeDir{*std::move(given)};
  std::string login = LoginPlace();
  if (IsOurDirectory(std::string(ParentOf(login)))) return RuntimeDir{std::move(login)};
  if (auto home = HomePlace()) return RuntimeDir{*std::move(home)};
  return Fail(ErrorKind::kNotFound,
              "there is no directory for the socket of the private server: set XDG_RUNTIME_DIR or HOME, or name a "
              "server by --server");
}

std::vector<std::string> PlacesOfRuntimeDir() {
  std::vector<std::string> places = {LoginPlace()};
  for (auto place : {HomePlace(), GivenPlace()}) {
    if (place) places.push_back(*std::move(place));
  }
  return places;
}

Result<OwnedFd> OpenRuntimeDir(const RuntimeDir& directory) {
  const std::string& path = directory.path;
  TRY_VOID(CheckPlace(path));
  // O_PATH needs no permission, so that a directory of another user is opened too, and refused with the remedy.
  const OwnedFd found(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!found.is_open() || ::fstat(found.get(), &status) < 0) return FailErrno("open", path);
  if (!S_ISDIR(status.st_mode)) return Unsafe(path, "is a link or a file");
  if (status.st_uid != ::geteuid()) return Unsafe(path, "belongs to another user");
  if ((status.st_mode & kOthers) != 0) return Unsafe(path, "is open to other users");
  OwnedFd directory_fd(::openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_fd.is_open()) return FailErrno("open", path);
  return directory_fd;
}

Result<OwnedFd> PrepareRuntimeDir(const RuntimeDir& directory) {
  TRY_VOID(CheckPlace(directory.path));
  TRY_VOID(Make(directory.path));
  return OpenRuntimeDir(directory);
}

}  // namespace holdfast::runtime_dir
