// Copying files and trees: contents and mode bits. A file is overwritten, a directory merged into one that is there, a
// symbolic link copied as a link. Inside a tree no link is followed on either side, at whatever moment it appears, and
// other kinds of files are left out.
#pragma once

#include <string>

#include "base/result.h"
#include "fs/remove.h"

namespace holdfast::fs {

// A directory needs kTree, and may not be copied to itself or below itself.
Result<> Copy(const std::string& source, const std::string& destination, Depth depth);

}  // namespace holdfast::fs
