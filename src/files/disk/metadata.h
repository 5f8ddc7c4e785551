// The metadata of a path: its kind, size, times and permissions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

struct Metadata {
  // For a link, all members but is_symlink describe the target.
  bool is_directory = false, is_file = false, is_symlink = false;
  uint64_t size = 0;
  int64_t created_at_ms = 0;  // 0 if the file system does not store it
  int64_t modified_at_ms = 0;
  uint16_t permissions = 0;  // the bits 0777 of the mode

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// Returns the metadata of a path. A link whose target is missing is kNotFound. With kRefuse a link anywhere in the path
// is kInvalidRequest.
Result<Metadata> GetMetadata(const std::string& path, Symlinks symlinks);

// Returns the same, but only from what the kernel has in memory, and nothing if the kernel would have to ask a disk or
// a server. For a network file system the answer may be some seconds old, because the kernel trusts a path in its cache
// for that time.
std::optional<Result<Metadata>> GetCachedMetadata(const std::string& path, Symlinks symlinks);

}  // namespace holdfast::files
