// The mounts that keep a file helper from protected paths. When another process removes the file or directory under
// such a mount, the kernel removes the mount, and a new file of that name is open to the helper. The helper therefore
// checks its mounts.
#pragma once

#include <string>
#include <vector>

#include "files/disk/mount_table.h"

namespace holdfast::files {

class ProtectedMounts {
 public:
  // None at all.
  ProtectedMounts() = default;

  // The paths are mount points of this process.
  explicit ProtectedMounts(std::vector<std::string> paths);

  bool empty() const { return paths_.empty(); }

  // True while every path has been a mount point since construction. It takes one call unless the kernel has noted a
  // change among all mounts.
  bool AreInPlace() const;

 private:
  std::vector<std::string> paths_;
  MountTable table_;  // without it every path is looked at each time
  mutable bool are_in_place_ = true;
};

}  // namespace holdfast::files
