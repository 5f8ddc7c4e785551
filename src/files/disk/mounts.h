// The mounts of this process, and what they say about files: which are local, and which are protected.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::files {

// The mount table is held open, because the kernel reports by the open file that a mount has changed. Only one thread
// may use an object of this class.
class MountTable {
 public:
  // A table that is not open: IsUnchanged always returns false.
  MountTable() = default;
  static MountTable Open();

  bool is_open() const { return file_.is_open(); }

  // Returns whether no mount has changed since the last call, or since the table was opened; false when in doubt. This
  // takes one system call.
  bool IsUnchanged() const;

  // Returns the whole text of the table; empty if it cannot be read.
  std::string Text() const;

 private:
  OwnedFd file_;
};

// The devices of the file systems that are local to this machine: opening a file there does not wait for a server or
// for another process. They come from the mount table, which is read again when it has changed.

// Only one thread may use an object of this class.
class LocalDevices {
 public:
  // Returns whether the device is local; false when in doubt.
  bool Contains(dev_t device);

 private:
  void Read();

  MountTable table_;
  std::set<dev_t> devices_;
};

// The mounts that keep a file helper from protected paths. When another process removes the file or directory under
// such a mount, the kernel removes the mount, and another file that gets this name is open to the file helper. The file
// helper therefore checks its mounts.
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
