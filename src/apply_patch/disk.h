// File operations that planning and applying share. They open only regular files, and only the file that the plan
// means: anything else at a path, such as a FIFO, is refused without waiting for its other end.
#pragma once

#include <string>
#include <string_view>

#include "apply_patch/plan.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Opens the regular file at `path`. `expected` is the file that an earlier look found there; another one is refused.
Result<OwnedFd> OpenRegular(const std::string& path, int flags, const sys::FileIdentity& expected);

Result<std::string> ReadToEnd(int fd, const std::string& path);

// Writes the content from the start of the file, and cuts the file off behind it afterwards. Cutting it off before
// would free its blocks, and on a full disk the old content could then not be restored.
Result<> Overwrite(int fd, const std::string& path, std::string_view content);

// Closes the file and returns the error of that, because a network file system may find out only at the close that
// there is no room.
Result<> Close(OwnedFd fd, const std::string& path);

}  // namespace holdfast::apply_patch
