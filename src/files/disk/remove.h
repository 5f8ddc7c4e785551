// Removing files and trees. A symbolic link is removed, never followed, at whatever moment it appears: the walk goes
// from descriptor to descriptor, so that a directory swapped for a link leads nowhere else. What is mounted in a tree
// is not touched; the mount point is EBUSY. The first failure ends it.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

enum class Depth { kSingle, kTree };
enum class Absence { kIsError, kIsFine };

struct RemoveOptions {
  Depth depth = Depth::kTree;             // kSingle: a directory must be empty
  Absence absence = Absence::kIsFine;     // of the path itself; other errors stay
  Symlinks symlinks = Symlinks::kFollow;  // on the way; kRefuse: at the end neither
};

// A placeholder of a sandbox is absent; it goes with a tree that it is in.
Result<> Remove(const std::string& path, const RemoveOptions& options, const GuardedNames& guarded);

}  // namespace holdfast::files
