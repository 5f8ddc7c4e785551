// Lists a tree, breadth first, and sorted by name within a directory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::files {

struct WalkOptions {
  size_t max_depth;        // 0 lists only the entries of the root
  size_t max_directories;  // the most directories to list, the root included
  size_t max_entries;      // the most entries to look at, including those that are left out of the result
  size_t max_path_bytes;   // the most bytes of all paths and error messages together
  bool follow_directory_links = false;
  bool prune_hidden_directories = false;  // hidden directories are in the result, but their entries are not
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
  bool truncated = false;          // whether a limit other than the depth has cut the result off
};

// Returns the entries below `root`. The result is empty if the root is not a directory, or is a link that is not
// followed. Walk fails if the root does not exist or cannot be reached.
//
// Links are left out, except links to directories if they are followed. A directory that was listed under another name
// is not listed again.
Result<WalkResult> Walk(const std::string& root, const WalkOptions& options);

}  // namespace holdfast::files
