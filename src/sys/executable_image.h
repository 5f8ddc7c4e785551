// A program held in memory: executed by descriptor, never written to disk, sealed against change.
#pragma once

#include <cstddef>
#include <span>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

Result<OwnedFd> MakeExecutableImage(const char* name, std::span<const std::byte> image);

}  // namespace holdfast::sys
