// A place is a name in a directory that is held open. It stays the same even if another process changes the path that
// led there.
#pragma once

#include <expected>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"
#include "sys/open.h"

namespace holdfast::files {

struct Place {
  OwnedFd directory;  // O_PATH
  std::string name;   // one component; it need not exist
};

// Returns the place where the file at this path is to be written, or created. With kFollow a link at the end of the
// path is followed, even if its target is missing. With kRefuse a link anywhere in the path is ELOOP. A path that can
// only be a directory is EISDIR, and a name that `guarded` protects is EROFS.
//
// A link at the end of the path that another user left in a directory like /tmp (sticky, writable by all) is not
// followed, but refused with EACCES. The kernel does the same with fs.protected_symlinks; this function does it
// whatever the value of that setting.
Result<Place> FindPlaceToChange(const std::string& path, Symlinks symlinks, const GuardedNames& guarded);

// Returns the place of the name itself, which is to be made, moved or removed: a link at the end of the path is not
// followed. The root directory is EBUSY. The error is an errno, because the caller knows what was to be done.
std::expected<Place, int> FindNameToChange(const std::string& path, sys::Links links, const GuardedNames& guarded);

}  // namespace holdfast::files
