// Removes files and trees. A symbolic link is removed and never followed, even if it appears during the removal: the
// removal goes from one directory descriptor to the next, so that a directory which is replaced by a link does not lead
// out of the tree. Nothing that is mounted in a tree is touched; its mount point is EBUSY. The first failure ends the
// removal.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"

namespace holdfast::files {

enum class Depth { kSingle, kTree };
enum class Absence { kIsError, kIsFine };

struct RemoveOptions {
  Depth depth = Depth::kTree;             // with kSingle a directory must be empty
  Absence absence = Absence::kIsFine;     // kIsFine excuses only that the path itself is missing
  Symlinks symlinks = Symlinks::kFollow;  // kFollow: on the way to the path; kRefuse: no link anywhere in the path
};

// Removes a path. The placeholder of a sandbox counts as missing; inside a tree it is removed with the tree.
Result<> Remove(const std::string& path, const RemoveOptions& options, const GuardedNames& guarded);

}  // namespace holdfast::files
