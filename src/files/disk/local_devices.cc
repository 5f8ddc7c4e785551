#include "files/disk/local_devices.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

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

}  // namespace

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

}  // namespace holdfast::files
