// Moving a name within one file system.
#pragma once

#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"

namespace holdfast::files {

enum class Existing { kReplace, kKeep };

// With kKeep something at the destination is an error, checked by the kernel in the same step. Links at the end of
// either path are moved or replaced, not followed. Both paths are absolute and normal, and on one file system.
Result<> Rename(const std::string& source, const std::string& destination, Existing existing,
                const GuardedNames& guarded);

// The path without symbolic links; everything in it must exist.
Result<std::string> Canonicalize(const std::string& path);

}  // namespace holdfast::files
