// Which file systems are of this machine: opening a file there does not wait for a server or for another process. By
// the mount table, which is read again when it has changed.
#pragma once

#include <sys/types.h>

#include <set>

#include "files/disk/mount_table.h"

namespace holdfast::files {

// For one thread.
class LocalDevices {
 public:
  // False when in doubt.
  bool Contains(dev_t device);

 private:
  void Read();

  MountTable table_;
  std::set<dev_t> devices_;
};

}  // namespace holdfast::files
