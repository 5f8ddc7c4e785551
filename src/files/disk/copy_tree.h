// Copies a directory with everything in it.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"

namespace holdfast::files {

// Copies the directory `source`, an O_PATH descriptor; its path is used in messages. A missing destination is made,
// with the directories on the way to it. The copy is merged into a destination that exists.
Result<> CopyTree(OwnedFd source, const std::string& source_path, const std::string& destination,
                  const GuardedNames& guarded);

}  // namespace holdfast::files
