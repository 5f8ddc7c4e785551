#include "files/disk/local_devices.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "sys/io.h"

namespace holdfast::files {
namespace {

constexpr std::array<std::string_view, 11> kLocalTypes = {"ext2",  "ext3",  "ext4",    "xfs",      "btrfs", "f2fs",
                                                          "tmpfs", "ramfs", "overlay", "bcachefs", "zfs"};

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": the third word, and the one after the dash.
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

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = sys::Read(fd, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(n));
  return text;
}

}  // namespace

bool LocalDevices::Contains(dev_t device) {
  if (!IsCurrent()) Read();
  return devices_.contains(device);
}

// The table says that it has changed once, to each who has it open.
bool LocalDevices::IsCurrent() const {
  pollfd changed{table_.get(), POLLPRI, 0};
  return table_.is_open() && ::poll(&changed, 1, 0) == 0;
}

void LocalDevices::Read() {
  devices_.clear();
  if (!table_.is_open()) table_ = OwnedFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!table_.is_open() || ::lseek(table_.get(), 0, SEEK_SET) < 0) return;
  const std::string table = ReadAll(table_.get());
  for (size_t start = 0; start < table.size();) {
    const size_t end = std::min(table.find('\n', start), table.size());
    const std::string line = table.substr(start, end - start);
    const MountLine mount = Parse(line);
    if (std::ranges::find(kLocalTypes, mount.type) != kLocalTypes.end()) devices_.insert(mount.device);
    start = end + 1;
  }
}

}  // namespace holdfast::files
