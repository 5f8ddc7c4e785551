// Reads small files that the kernel has in memory. A read never waits, so the loop's thread can do it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "files/disk/metadata.h"
#include "files/disk/mounts.h"

namespace holdfast::files {

class CachedFiles {
 public:
  // Returns the content of a file, or nothing if the read might have to wait, or if the path is not a regular file of 1
  // to `max_bytes`. A worker has to read the file then, and finds out what is wrong with it.
  std::optional<std::string> Read(const std::string& path, Symlinks symlinks, size_t max_bytes);

 private:
  LocalDevices local_devices_;
};

}  // namespace holdfast::files
