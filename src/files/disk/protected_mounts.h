// The mounts that keep a file helper from protected paths. When another process removes the file or directory under
// such a mount, the kernel removes the mount, and another file that gets this name is open to the file helper. The file
// helper therefore checks its mounts.
#pragma once

#include <string>
#include <vector>

#include "files/disk/mount_table.h"

namespace holdfast::files {

class ProtectedMounts {
 public:
  // No path is protected.
  ProtectedMounts() = default;

  // The paths must be mount points of this process.
  explicit ProtectedMounts(std::vector<std::string> paths);

  bool empty() const { return paths_.empty(); }

  // Returns whether every path has been a mount point since the construction. This takes one system call unless the
  // kernel has noted a change among all mounts.
  bool AreInPlace() const;

 private:
  std::vector<std::string> paths_;
  MountTable table_;  // without it every call looks at every path
  mutable bool are_in_place_ = true;
};

}  // namespace holdfast::files
