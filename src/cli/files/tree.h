// A tree of files, listed before it is copied, so that the progress has a total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/files.h"
#include "loop/task.h"

namespace holdfast::cli {

struct TreeFile {
  std::string path;  // below the root of the tree; empty for the root itself
  uint64_t size = 0;
  int64_t modified_at_ms = 0;
  std::optional<uint64_t> permissions = {};  // absent if the server does not send them
};

// Directories come before what is in them.
struct Tree {
  bool is_directory = false;  // the root
  std::vector<std::string> directories = {};
  std::vector<TreeFile> files = {};
  std::vector<std::string> skipped = {};  // neither files nor directories
  uint64_t bytes = 0;
};

// Links to files are followed, and links to directories are not.
Result<Tree> ListLocal(const std::string& root);
// Fails if the server lists something that is not the name of a file, such as `..` or `/etc/passwd`.
loop::Task<Result<Tree>> ListRemote(client::Files files, std::string root);

}  // namespace holdfast::cli
