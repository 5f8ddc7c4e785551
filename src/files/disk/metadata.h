// What a path is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

struct Metadata {
  // Of what a link points at; only is_symlink is of the path itself.
  bool is_directory = false, is_file = false, is_symlink = false;
  uint64_t size = 0;
  int64_t created_at_ms = 0;  // 0 where the file system does not know
  int64_t modified_at_ms = 0;

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// A dangling link is kNotFound. With kRefuse a link anywhere in the path is kInvalidRequest.
Result<Metadata> GetMetadata(const std::string& path, Symlinks symlinks);

// The same, but only from what the kernel has in memory; absent when it would have to ask a disk or a server. What it
// remembers of a network file system is as old as its trust in the path: seconds.
std::optional<Result<Metadata>> GetCachedMetadata(const std::string& path, Symlinks symlinks);

}  // namespace holdfast::files
