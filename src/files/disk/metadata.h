// The metadata of a path: its kind, size, times and permissions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "sys/open.h"

namespace holdfast::files {

// The choice whether a path may contain symbolic links, at its end or on the way.
enum class Symlinks { kFollow, kRefuse };

constexpr sys::Links LinksOf(Symlinks symlinks) {
  return symlinks == Symlinks::kFollow ? sys::Links::kFollow : sys::Links::kNone;
}

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

// Sets the mode of a file that copies or replaces another one. Returns 0 or an errno. A sandbox does not allow files
// with set-user-ID or set-group-ID bits. There the file gets the mode without these bits, as if a command in the
// sandbox had written it.
int SetMode(int fd, mode_t mode);

}  // namespace holdfast::files
