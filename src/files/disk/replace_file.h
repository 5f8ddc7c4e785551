// Replaces a file by another of the same name, in one step: Replacement::kAtomic of files/disk/write_file.h.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

// Sees what is about to be replaced, and may refuse.
using CheckCurrent = std::function<Result<>(const File& current)>;

// `check` may be empty. It is called at the last moment; a file that does not exist is kNotFound then.
Result<> ReplaceFile(const std::string& path, std::span<const std::byte> bytes, Symlinks symlinks,
                     const CheckCurrent& check, const GuardedNames& guarded);

}  // namespace holdfast::files
