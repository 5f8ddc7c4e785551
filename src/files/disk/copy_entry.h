// Functions that copy one file or one link.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "sys/open.h"

namespace holdfast::files {

// The destination of a copy.
struct Target {
  int directory;     // may be AT_FDCWD
  std::string name;  // relative to `directory`
  std::string path;  // for messages
};

// Creates the target, or overwrites an existing regular file. A target of any other kind is refused. If the target is
// the source itself, it is refused too, and the file keeps its content. With kFollow a link at the target is followed,
// even if it points to nothing.
Result<> CopyFile(const File& source, const Target& target, sys::Links links);

// Makes a link with this text. A target that exists is refused with EEXIST.
Result<> MakeLink(const std::string& text, const Target& target);

// Returns the permissions of a copy. The set-user-ID and set-group-ID bits are kept only if the copy belongs to the
// same user or group. Otherwise a program of another user would become one that runs with the rights of the user who
// copied it. A directory keeps the set-group-ID bit that it got from its parent.
mode_t ModeOfCopy(const struct stat& source, const struct stat& copy);

}  // namespace holdfast::files
