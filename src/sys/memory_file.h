// A file in memory, for text that another program reads from a descriptor.
#pragma once

#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// Close-on-exec; to be read from its beginning.
Result<OwnedFd> MakeMemoryFile(const char* name, std::string_view text);

}  // namespace holdfast::sys
