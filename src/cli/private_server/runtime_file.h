// The lock and the log of a private server. A command that could write their directory may have put anything there, so
// they are opened without waiting, and only if they are regular files of this user.
#pragma once

#include <chrono>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::cli {

// Opens a file of the open directory, and makes it if it is missing. `path` is its whole path. Fails, with the remedy,
// if it is a link, a pipe or anything else than a regular file, if it belongs to another user or has another name too.
Result<OwnedFd> OpenRuntimeFile(int directory, const std::string& path, int flags);

// Locks a file for as long as the descriptor is open: the kernel gives the lock back when its owner ends, however it
// ends. Fails after `limit` and names the process that holds the lock, if /proc shows it.
Result<> LockRuntimeFile(int file, const std::string& path, std::chrono::milliseconds limit);

}  // namespace holdfast::cli
