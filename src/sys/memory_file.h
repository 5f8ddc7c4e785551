// A file in memory, for text that another program reads from a descriptor.
#pragma once

#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// Returns a close-on-exec descriptor of a file with this text. Its offset is at the beginning.
Result<OwnedFd> MakeMemoryFile(const char* name, std::string_view text);

// Writes the text to an empty memory file without moving the offset, so that a process which shares the descriptor
// reads from the beginning.
Result<> FillMemoryFile(int fd, std::string_view text);

}  // namespace holdfast::sys
