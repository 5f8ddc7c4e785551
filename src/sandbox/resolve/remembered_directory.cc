#include "sandbox/resolve/remembered_directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <utility>

namespace holdfast::sandbox {
namespace {

constexpr int64_t kUnsettledSeconds = 2;

// Two pointers and two counts for each shared pointer, beside the directory itself.
constexpr size_t kPointerBytes = 4 * sizeof(void*);

}  // namespace

std::optional<DirectorySight> LookAtDirectory(int from, const char* path) {
  constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_CTIME;
  struct statx status{};
  if (::statx(from, path, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, kWanted, &status) != 0) return std::nullopt;
  if ((status.stx_mask & kWanted) != kWanted || !S_ISDIR(status.stx_mode)) return std::nullopt;
  const uint64_t device = makedev(status.stx_dev_major, status.stx_dev_minor);
  return DirectorySight{.state = {.identity = {.device = device, .inode = status.stx_ino},
                                  .changed_s = status.stx_ctime.tv_sec,
                                  .changed_ns = status.stx_ctime.tv_nsec},
                        .is_encrypted = (status.stx_attributes & STATX_ATTR_ENCRYPTED) != 0};
}

bool KeepsChangeTimes(int directory) {
  struct statfs status{};
  if (::fstatfs(directory, &status) != 0) return false;
  switch (static_cast<uint32_t>(status.f_type)) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
      return true;
    default:
      return false;
  }
}

bool IsSettled(const DirectoryState& state, const timespec& now) {
  return std::pair(state.changed_s, int64_t{state.changed_ns}) <=
         std::pair(int64_t{now.tv_sec} - kUnsettledSeconds, int64_t{now.tv_nsec});
}

RememberedDirectory LookBeforeReading(int directory, const RememberedDirectory* parent, const timespec& now) {
  RememberedDirectory seen;
  const std::optional<DirectorySight> sight = LookAtDirectory(directory, "");
  if (!sight) return seen;
  seen.state = sight->state;
  const bool is_on_same = parent != nullptr && parent->state.identity.device == seen.state.identity.device;
  seen.keeps_change_times = is_on_same ? parent->keeps_change_times : KeepsChangeTimes(directory);
  seen.is_trusted = seen.keeps_change_times && !sight->is_encrypted && IsSettled(seen.state, now);
  return seen;
}

size_t RememberedDirectory::bytes() const {
  return sizeof(RememberedDirectory) + kPointerBytes + directories.capacity() + entries.capacity() +
         children.capacity() * sizeof(RememberedPointer);
}

}  // namespace holdfast::sandbox
