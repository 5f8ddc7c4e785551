// Small files that the kernel has in memory, read without waiting for anything: for the loop's own thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "files/disk/local_devices.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

class CachedFiles {
 public:
  // Absent when it might have to wait, or is not a regular file of 1 to `max_bytes`: ask a worker, who also knows what
  // is wrong with it.
  std::optional<std::string> Read(const std::string& path, Symlinks symlinks, size_t max_bytes);

 private:
  LocalDevices local_devices_;
};

}  // namespace holdfast::files
