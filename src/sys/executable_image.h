// A program held in memory: executed by descriptor, never written to disk, sealed against change. No file of the
// machine changes it, and a process that runs it leads to no file of the machine.
#pragma once

#include <cstddef>
#include <span>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

Result<OwnedFd> MakeExecutableImage(const char* name, std::span<const std::byte> image);

// A process without capabilities that executes a file which it cannot read cannot be looked into by others of its user,
// from its first instruction on.
enum class ImageMode { kReadable, kOnlyExecutable };

// The same in two steps: an empty file, and then a copy of all that `source` has. From Linux 6.3 on nobody can make it
// a file that cannot be executed.
Result<OwnedFd> BeginExecutableCopy(const char* name);
Result<> FinishExecutableCopy(int image, int source, ImageMode mode);

// Whether a descriptor is a file in memory that nobody can write.
bool IsSealed(int fd);

}  // namespace holdfast::sys
