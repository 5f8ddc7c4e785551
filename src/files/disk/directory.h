// Functions that make directories and list them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

enum class Parents { kMustExist, kCreate };

// Makes a directory. With kCreate it is no error if the directory exists already. If the placeholder of a sandbox
// (sys/placeholder.h) has this name, it becomes the wanted directory.
Result<> CreateDirectory(const std::string& path, Parents parents, Symlinks symlinks, const GuardedNames& guarded);

struct DirectoryEntry {
  std::string name;                            // raw bytes
  bool is_directory = false, is_file = false;  // for a link, these describe its target

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

// Returns the entries of a directory, in no particular order, without links whose target is missing. More than
// `max_entries` entries are an error.
Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path, size_t max_entries);

}  // namespace holdfast::files
