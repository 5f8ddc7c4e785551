// A name in a directory that is held open: whatever is swapped in the path meanwhile, the name stays where it was
// found.
#pragma once

#include <expected>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/symlinks.h"
#include "sys/open.h"

namespace holdfast::files {

struct Place {
  OwnedFd directory;  // O_PATH
  std::string name;   // one component; it need not exist
};

// Where a file of this path is to be written, or created. With kFollow a link at the end leads on to where it points,
// also when nothing is there; with kRefuse a link anywhere is ELOOP. A path that can only be a directory is EISDIR, and
// a name that `guarded` keeps as it is EROFS.
//
// A link that somebody else left in a directory like /tmp (sticky, writable by all) is not followed at the end of the
// path, as with the kernel's fs.protected_symlinks, but whatever that is set to: EACCES.
Result<Place> FindPlaceToChange(const std::string& path, Symlinks symlinks, const GuardedNames& guarded);

// Where a name is to be made, moved or removed, whatever it is: a link at the end of the path is not followed. The root
// is EBUSY. The error is an errno, because the caller says what was to be done.
std::expected<Place, int> FindNameToChange(const std::string& path, sys::Links links, const GuardedNames& guarded);

}  // namespace holdfast::files
