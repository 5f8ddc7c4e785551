#include "escalate/caller/fixed_path.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "escalate/caller/path_walk.h"
#include "sys/permissions.h"

namespace holdfast::escalate {
namespace {

// A process with one of these capabilities can change files in spite of their permissions.
constexpr uint64_t kOverridingCapabilities = uint64_t{1} << CAP_CHOWN | uint64_t{1} << CAP_DAC_OVERRIDE |
                                             uint64_t{1} << CAP_FOWNER | uint64_t{1} << CAP_SYS_ADMIN;

// The directories that belong to the system. SANDBOX.md lists them too.
constexpr std::string_view kSystemDirectories[] = {"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"};

// The owner of a file can give itself the permission to write it.
bool IsFixed(int fd, const struct stat& status, const CallerState& caller) {
  struct statvfs mount;
  if (::fstatvfs(fd, &mount) != 0) return false;
  if ((mount.f_flag & ST_RDONLY) != 0) return true;
  if ((caller.capabilities & kOverridingCapabilities) != 0) return false;
  return status.st_uid != caller.user && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool IsWritableHere(int fd, const struct stat& status) {
  const int refusal = sys::CheckAccess(fd, W_OK);
  if (refusal == 0) return true;
  const bool is_unknown = refusal == ENOSYS || refusal == EINVAL;
  return is_unknown && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool IsOfRootAlone(const struct stat& status) {
  return status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool IsInSystemDirectory(int file) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), path.data(), path.size());
  if (size <= 0) return false;
  const std::string_view resolved(path.data(), static_cast<size_t>(size));
  return std::ranges::any_of(kSystemDirectories, [&](std::string_view one) { return resolved.starts_with(one); });
}

// Tells whether a directory or file cannot be changed.
using Check = std::function<bool(int fd, const struct stat& status)>;

// A link needs no check of its own, because its directory has been checked. A path that goes up may leave the root by a
// rename, and programs are hardly ever called by such a path.
bool StaysFixed(PathWalk& walk, const Check& is_fixed) {
  using Step = PathWalk::Step;
  for (;;) {
    struct stat status;
    if (::fstat(walk.here(), &status) != 0 || !is_fixed(walk.here(), status)) return false;
    const auto step = walk.Go();
    if (!step || *step == Step::kUp || *step == Step::kProcessLink) return false;
    if (*step == Step::kEnd) return true;
  }
}

OwnedFd OpenRoot() { return OwnedFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

}  // namespace

bool IsFixedPath(int root, const std::string& path, const CallerState& caller) {
  PathWalk walk(root, path);
  return StaysFixed(walk, [&](int fd, const struct stat& status) { return IsFixed(fd, status, caller); });
}

bool IsFixedOutside(const std::string& path, uid_t user) {
  const OwnedFd root = OpenRoot();
  PathWalk walk(root.get(), path);
  return StaysFixed(walk, [user](int fd, const struct stat& status) {
    return user == 0 ? IsOfRootAlone(status) : status.st_uid != user && !IsWritableHere(fd, status);
  });
}

bool IsOfSystem(const std::string& path) {
  const OwnedFd root = OpenRoot();
  PathWalk walk(root.get(), path);
  return StaysFixed(walk, [](int, const struct stat& status) { return IsOfRootAlone(status); }) &&
         IsInSystemDirectory(walk.here());
}

}  // namespace holdfast::escalate
