// The working directory of a process that calls execve, as this program sees it: outside of the sandbox of that
// process. The directory is held by a descriptor, so that the one which was judged and shown is the one that a command
// outside runs in, whatever the process renames or links meanwhile.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

struct OutsideDirectory {
  std::shared_ptr<const OwnedFd> fd;  // without any mount of the sandbox
  std::string path;                   // the real path of the directory, read from the descriptor

  friend bool operator==(const OutsideDirectory&, const OutsideDirectory&) = default;
};

// Opens the directory that has the path of the caller's working directory. Fails with ESTALE if this is not the
// caller's directory, because that one lies in a mount of the sandbox, was removed, or is hidden by another one.
OrErrno<OutsideDirectory> OpenOutsideDirectory(pid_t tid);

// The reason of a denial, where a person wants a program to leave that has no such directory.
inline constexpr char kDirectoryElsewhere[] = "Outside of the sandbox the working directory is another one";

}  // namespace holdfast::escalate
