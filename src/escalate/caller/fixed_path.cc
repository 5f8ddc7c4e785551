#include "escalate/caller/fixed_path.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/permissions.h"

namespace holdfast::escalate {
namespace {

constexpr int kMaxLinks = 40;  // as in the kernel

// A process with one of these capabilities can change files in spite of their permissions.
constexpr uint64_t kOverridingCapabilities = uint64_t{1} << CAP_CHOWN | uint64_t{1} << CAP_DAC_OVERRIDE |
                                             uint64_t{1} << CAP_FOWNER | uint64_t{1} << CAP_SYS_ADMIN;

// The directories that belong to the system. A server that runs as root trusts the programs below them, and no others.
// SANDBOX.md lists them too.
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

// The links of /proc lead to what a process has open, whatever their text is.
bool IsMagic(int link) {
  struct statfs status;
  return ::fstatfs(link, &status) != 0 || status.f_type == PROC_SUPER_MAGIC;
}

// Walk is a lookup of one path, one name after the other.
class Walk {
 public:
  // Tells whether a directory or file cannot be changed.
  using Check = std::function<bool(int fd, const struct stat& status)>;

  Walk(int root, std::string path, Check is_fixed)
      : root_(root), is_fixed_(std::move(is_fixed)), rest_(std::move(path)), here_(Reopen(root)) {}

  // The place that the walk has reached: the file, once everything on the path has stayed fixed.
  int here() const { return here_.get(); }

  bool StaysFixed() {
    for (;;) {
      struct stat status;
      if (!here_.is_open() || ::fstat(here_.get(), &status) != 0) return false;
      if (!is_fixed_(here_.get(), status)) return false;
      const std::string name = TakeName();
      if (name.empty()) return true;
      if (!Enter(name)) return false;
    }
  }

 private:
  static OwnedFd Reopen(int directory) { return OwnedFd(::openat(directory, ".", O_PATH | O_CLOEXEC)); }

  std::string TakeName() {
    rest_.erase(0, rest_.find_first_not_of('/'));
    std::string name = rest_.substr(0, rest_.find('/'));
    rest_.erase(0, name.size());
    return name;
  }

  bool Enter(const std::string& name) {
    // A path that goes up may leave the root by a rename. Programs are hardly ever called by such a path.
    if (name == "..") return false;
    OwnedFd next(::openat(here_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!next.is_open() || ::fstat(next.get(), &status) != 0) return false;
    if (!S_ISLNK(status.st_mode)) {
      here_ = std::move(next);
      return true;
    }
    return Follow(next.get());
  }

  // The directory of the link has been checked, so the link itself cannot be replaced.
  bool Follow(int link) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(link, "", target.data(), target.size());
    if (size <= 0 || IsMagic(link) || ++links_ > kMaxLinks) return false;
    if (target[0] == '/') here_ = Reopen(root_);
    rest_.insert(0, "/").insert(0, target.data(), static_cast<size_t>(size));
    return true;
  }

  const int root_;
  const Check is_fixed_;
  std::string rest_;
  OwnedFd here_;
  int links_ = 0;
};

}  // namespace

bool IsFixedPath(int root, const std::string& path, const CallerState& caller) {
  return Walk(root, path, [&](int fd, const struct stat& status) { return IsFixed(fd, status, caller); }).StaysFixed();
}

bool IsFixedOutside(const std::string& path, uid_t user) {
  const OwnedFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (user == 0) {
    Walk walk(root.get(), path, [](int, const struct stat& status) { return IsOfRootAlone(status); });
    return walk.StaysFixed() && IsInSystemDirectory(walk.here());
  }
  const auto is_fixed = [user](int fd, const struct stat& status) {
    return status.st_uid != user && !IsWritableHere(fd, status);
  };
  return Walk(root.get(), path, is_fixed).StaysFixed();
}

}  // namespace holdfast::escalate
