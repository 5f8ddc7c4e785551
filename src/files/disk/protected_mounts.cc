#include "files/disk/protected_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace holdfast::files {
namespace {

// Returns whether a path is a mount point. A path that cannot be reached is hidden by another mount, which is checked
// too, so it counts as one. Before Linux 5.8 the kernel does not tell, and every path counts as one.
bool IsMountPoint(const std::string& path) {
  struct statx status;
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(AT_FDCWD, path.c_str(), flags, STATX_TYPE, &status) < 0) return errno == EACCES;
  if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0) return true;
  return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

// The table is opened before the paths are checked, so that every later change is noted.
ProtectedMounts::ProtectedMounts(std::vector<std::string> paths)
    : paths_(std::move(paths)), table_(MountTable::Open()), are_in_place_(std::ranges::all_of(paths_, IsMountPoint)) {}

bool ProtectedMounts::AreInPlace() const {
  if (paths_.empty() || !are_in_place_) return are_in_place_;
  if (table_.IsUnchanged()) return true;
  return are_in_place_ = std::ranges::all_of(paths_, IsMountPoint);
}

}  // namespace holdfast::files
