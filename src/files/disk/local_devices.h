// The devices of the file systems that are local to this machine: opening a file there does not wait for a server or
// for another process. They come from the mount table, which is read again when it has changed.
#pragma once

#include <sys/types.h>

#include <set>

#include "files/disk/mount_table.h"

namespace holdfast::files {

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

}  // namespace holdfast::files
