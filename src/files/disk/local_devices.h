// Which file systems are of this machine: opening a file there does not wait for a server or for another process. By
// the mount table, which is read again when it has changed.
#pragma once

#include <sys/types.h>

#include <set>

#include "base/owned_fd.h"

namespace holdfast::files {

// For one thread.
class LocalDevices {
 public:
  // False when in doubt.
  bool Contains(dev_t device);

 private:
  bool IsCurrent() const;
  void Read();

  OwnedFd table_;  // /proc/self/mountinfo, which tells of changes
  std::set<dev_t> devices_;
};

}  // namespace holdfast::files
