// The system calls on files that planning and applying share. Only regular files are opened, and only those meant:
// something else at a path, a FIFO say, is refused without waiting for its other end.
#pragma once

#include <string>
#include <string_view>

#include "apply_patch/plan.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// `expected` is what an earlier look at the path has found.
Result<OwnedFd> OpenRegular(const std::string& path, int flags, const sys::FileIdentity& expected);

Result<std::string> ReadToEnd(int fd, const std::string& path);

// The content is written from the start of the file, and what is behind it is cut off afterwards, not before: on a full
// disk the old content can then be put back into the blocks it had.
Result<> Overwrite(int fd, const std::string& path, std::string_view content);

// Some errors show only here: a network file system may find out at the close that there is no room.
Result<> Close(OwnedFd fd, const std::string& path);

}  // namespace holdfast::apply_patch
