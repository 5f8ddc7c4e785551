// Copying a directory with what is in it.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"

namespace holdfast::files {

// `source` is open, O_PATH; its path is for messages. A destination that is missing is made, with the directories on
// the way to it; one that is there is merged with.
Result<> CopyTree(OwnedFd source, const std::string& source_path, const std::string& destination,
                  const GuardedNames& guarded);

}  // namespace holdfast::files
