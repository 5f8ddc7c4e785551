// Listing a tree, breadth first and sorted by name within a directory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::files {

struct WalkOptions {
  size_t max_depth;        // 0 lists the root only
  size_t max_directories;  // listed, the root among them
  size_t max_entries;      // looked at, also when they are left out then
  size_t max_path_bytes;   // of all paths together, and the messages of errors
  bool follow_directory_links = false;
  bool prune_hidden_directories = false;  // listed, but not entered
};

struct WalkEntry {
  std::string path;
  bool is_directory = false;
};

struct WalkError {
  std::string path, message;
};

struct WalkResult {
  std::vector<WalkEntry> entries;  // directories and regular files
  std::vector<WalkError> errors;   // directories that could not be read
  bool truncated = false;          // by any limit but the depth
};

// Of a root that is no directory, or a link that is not followed, empty. Fails when there is nothing, or no way to it.
//
// Links are left out, but for those to directories when they are followed. A directory that was listed under another
// name is not listed again.
Result<WalkResult> Walk(const std::string& root, const WalkOptions& options);

}  // namespace holdfast::files
