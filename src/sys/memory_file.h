// A file in memory, for text that another program reads from a descriptor.
#pragma once

#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// Close-on-exec; to be read from its beginning.
Result<OwnedFd> MakeMemoryFile(const char* name, std::string_view text);

// Into one that is empty. Whoever shares the descriptor still reads from the beginning.
Result<> FillMemoryFile(int fd, std::string_view text);

}  // namespace holdfast::sys
