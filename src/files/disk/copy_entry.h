// Copying one file or one link.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "sys/open.h"

namespace holdfast::files {

// Where a copy goes.
struct Target {
  int directory;     // may be AT_FDCWD
  std::string name;  // relative to it
  std::string path;  // for messages
};

// Creates the file, or overwrites one that is there. Any other kind is refused, and so is the source itself, of which
// nothing is lost. With kFollow a link at the target is followed, also when it points nowhere.
Result<> CopyFile(const File& source, const Target& target, sys::Links links);

// Something at the target is EEXIST.
Result<> MakeLink(const std::string& text, const Target& target);

// The permissions of a copy. Set-user-ID and set-group-ID come along only where the copy belongs to the same user or
// group: otherwise somebody's program would become one that runs as whoever copied it. A directory keeps the
// set-group-ID that it has from its parent.
mode_t ModeOfCopy(const struct stat& source, const struct stat& copy);

}  // namespace holdfast::files
