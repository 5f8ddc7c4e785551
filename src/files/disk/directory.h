// Making directories and listing them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

enum class Parents { kMustExist, kCreate };

// With kCreate a directory that is there is no error. The placeholder of a sandbox (sys/placeholder.h) becomes the
// directory that is asked for.
Result<> CreateDirectory(const std::string& path, Parents parents, Symlinks symlinks, const GuardedNames& guarded);

struct DirectoryEntry {
  std::string name;                            // raw bytes
  bool is_directory = false, is_file = false;  // of what a link points at

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

// In no order, without dangling links. More than `max_entries` is an error.
Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path, size_t max_entries);

}  // namespace holdfast::files
