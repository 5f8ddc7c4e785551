// MountChanges counts how often the mounts of the mount namespace have changed that this process was in when the object
// was made.
#pragma once

#include <cstdint>

#include "base/owned_fd.h"

namespace holdfast::sys {

class MountChanges {
 public:
  MountChanges();

  // Returns a number that is another one if a mount was made, changed or removed since the last call. Where /proc does
  // not tell, every call returns another number.
  uint64_t Count();

 private:
  OwnedFd mounts_;
  uint64_t count_ = 0;
};

}  // namespace holdfast::sys
