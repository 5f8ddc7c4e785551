// A name in a directory that is held open: whatever is swapped in the path meanwhile, the name stays where it was
// found.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

struct Place {
  OwnedFd directory;  // O_PATH
  std::string name;   // one component; it need not exist
};

// Where a file of this path is, or would be created. With kFollow a link at the end leads on to where it points, also
// when nothing is there; with kRefuse a link anywhere is ELOOP. A path that can only be a directory is EISDIR.
//
// A link that somebody else left in a directory like /tmp (sticky, writable by all) is not followed at the end of the
// path, as with the kernel's fs.protected_symlinks, but whatever that is set to: EACCES.
Result<Place> FindPlace(const std::string& path, Symlinks symlinks);

// Where a name is, whatever it is: a link at the end of the path is not followed. The path is absolute and normal; that
// of the root is EBUSY.
Result<Place> FindName(const std::string& path, Symlinks symlinks);

}  // namespace holdfast::files
