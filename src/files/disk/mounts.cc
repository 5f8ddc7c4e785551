#include "files/disk/mounts.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "sys/io.h"

namespace holdfast::files {
namespace {

constexpr std::array<std::string_view, 11> kLocalTypes = {"ext2",  "ext3",  "ext4",    "xfs",      "btrfs", "f2fs",
                                                          "tmpfs", "ramfs", "overlay", "bcachefs", "zfs"};

// The third field of a line of the mount table, and the field after the dash. A line looks like
// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".
struct MountLine {
  dev_t device;
  std::string_view type;
};

MountLine Parse(const std::string& line) {
  unsigned device_major = 0, device_minor = 0;
  const bool numbered = std::sscanf(line.c_str(), "%*d %*d %u:%u", &device_major, &device_minor) == 2;
  const size_t dash = line.find(" - ");
  if (!numbered || dash == std::string::npos) return {0, ""};
  const std::string_view rest = std::string_view(line).substr(dash + 3);
  return {makedev(device_major, device_minor), rest.substr(0, rest.find(' '))};
}

// Returns whether a path is a mount point. A path that cannot be reached is hidden by another mount, which is checked
// too, so it counts as one. Before Linux 5.8 the kernel does not say, and every path counts as one.
bool IsMountPoint(const std::string& path) {
  struct statx status;
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(AT_FDCWD, path.c_str(), flags, STATX_TYPE, &status) < 0) return errno == EACCES;
  if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0) return true;
  return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

MountTable MountTable::Open() {
  MountTable table;
  table.file_ = OwnedFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  return table;
}

// The kernel reports a change once, to each opener of the table.
bool MountTable::IsUnchanged() const {
  pollfd change{.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return file_.is_open() && ::poll(&change, 1, 0) == 0;
}

std::string MountTable::Text() const {
  std::string text;
  if (!file_.is_open() || ::lseek(file_.get(), 0, SEEK_SET) < 0) return text;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = sys::Read(file_.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

bool LocalDevices::Contains(dev_t device) {
  if (!table_.IsUnchanged()) Read();
  return devices_.contains(device);
}

void LocalDevices::Read() {
  devices_.clear();
  if (!table_.is_open()) table_ = MountTable::Open();
  const std::string table = table_.Text();
  for (size_t start = 0; start < table.size();) {
    const size_t end = std::min(table.find('\n', start), table.size());
    const std::string line = table.substr(start, end - start);
    const MountLine mount = Parse(line);
    if (std::ranges::find(kLocalTypes, mount.type) != kLocalTypes.end()) devices_.insert(mount.device);
    start = end + 1;
  }
}

// The table is opened before the paths are checked, so that every later change is noted.
ProtectedMounts::ProtectedMounts(std::vector<std::string> paths)
    : paths_(std::move(paths)), table_(MountTable::Open()), are_in_place_(std::ranges::all_of(paths_, IsMountPoint)) {}

bool ProtectedMounts::AreInPlace() const {
  if (paths_.empty() || !are_in_place_) return are_in_place_;
  if (table_.IsUnchanged()) return true;
  return are_in_place_ = std::ranges::all_of(paths_, IsMountPoint);
}

}  // namespace holdfast::files
