// A program in a file in memory. It is executed by its descriptor, is never on a disk, and is sealed against changes.
// No change of a file on the machine changes the program, and a process that runs it gives no access to such a file.
#pragma once

#include <cstddef>
#include <span>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// The permissions of the file. When a process without capabilities executes a file that it cannot read
// (kOnlyExecutable), other processes of its user cannot look into it, from its first instruction on.
enum class ImageMode { kReadable, kOnlyExecutable };

// Makes a sealed file in memory that has the given content and can be executed.
Result<OwnedFd> MakeExecutableImage(const char* name, std::span<const std::byte> image,
                                    ImageMode mode = ImageMode::kReadable);

// Makes such a file in two steps. BeginExecutableCopy makes an empty file, and FinishExecutableCopy copies all of
// `source` into it. From Linux 6.3 on, the permission to execute it cannot be removed afterwards.
Result<OwnedFd> BeginExecutableCopy(const char* name);
Result<> FinishExecutableCopy(int image, int source, ImageMode mode);

// Returns whether a descriptor is a file in memory whose content cannot be changed.
bool IsSealed(int fd);

}  // namespace holdfast::sys
