// Copying files and trees: contents and mode bits. A file is overwritten, a directory merged into one that is there, a
// symbolic link copied as a link. Inside a tree no link is followed on either side, at whatever moment it appears, and
// other kinds of files are left out. What fails ends the copy, and what was copied until then stays.
//
// Set-user-ID and set-group-ID come along only where the copy belongs to the same user or group, and inside a
// sandbox for no file. Directories that are there already keep their mode.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/remove.h"

namespace holdfast::files {

// A file may not be copied to itself, nor a directory to itself or below itself. A directory needs kTree; the
// directories on the way to its destination are made. A link at the destination is followed.
Result<> Copy(const std::string& source, const std::string& destination, Depth depth, const GuardedNames& guarded);

}  // namespace holdfast::files
