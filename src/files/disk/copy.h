// Copies files and trees with their contents and mode bits. A file at the destination is overwritten, a directory is
// merged into one that exists, and a symbolic link is copied as a link. Inside a tree no link is followed on either
// side, even if it appears during the copy, and other kinds of files are left out. A failure ends the copy, and what
// was copied until then stays.
//
// A copy keeps the set-user-ID and set-group-ID bits only if it belongs to the same user or group, and inside a sandbox
// never. Directories that exist already keep their mode.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/remove.h"

namespace holdfast::files {

// Copies `source` to `destination`. A file cannot be copied to itself, nor a directory to itself or below itself. A
// directory is copied only with kTree, and the missing directories on the way to its destination are made. A link at
// the destination is followed.
Result<> Copy(const std::string& source, const std::string& destination, Depth depth, const GuardedNames& guarded);

}  // namespace holdfast::files
