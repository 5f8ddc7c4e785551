// Functions that move a name within one file system, and resolve the links of a path.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"

namespace holdfast::files {

enum class Existing { kReplace, kKeep };

// Moves a name. With kKeep it is an error if the destination exists, which the kernel checks in the same step. Links at
// the end of the paths are moved or replaced, not followed. Both paths must be absolute, normalised, and on the same
// file system.
Result<> Rename(const std::string& source, const std::string& destination, Existing existing,
                const GuardedNames& guarded);

// Returns the path with all symbolic links resolved. All its components must exist.
Result<std::string> Canonicalize(const std::string& path);

}  // namespace holdfast::files
