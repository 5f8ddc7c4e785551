// Replaces a file by another one of the same name in one step. This is Replacement::kAtomic of files/disk/write_file.h.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

// A function that looks at the file which is about to be replaced. If it returns an error, the file is not replaced.
using CheckCurrent = std::function<Result<>(const File& current)>;

// Replaces the file at `path` by one with the given bytes. `check` may be empty. It is called right before the
// replacement; with a `check`, a file that does not exist is kNotFound.
Result<> ReplaceFile(const std::string& path, std::span<const std::byte> bytes, Symlinks symlinks,
                     const CheckCurrent& check, const GuardedNames& guarded);

}  // namespace holdfast::files
