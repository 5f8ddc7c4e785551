// The identity of a file by its device and inode. A path is not an identity, because it may lead to another file a
// moment later.
//
// What it does not distinguish: a file that was removed, and a later one that has got the same inode number.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

struct FileIdentity {
  uint64_t device = 0, inode = 0;

  static FileIdentity Of(const struct stat& status) { return {.device = status.st_dev, .inode = status.st_ino}; }

  void Fields(this auto& self, auto& f) { f(self.device, self.inode); }

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

inline bool IsSameFile(const struct stat& a, const struct stat& b) {
  return FileIdentity::Of(a) == FileIdentity::Of(b);
}

// Opens a path with O_PATH. Fails if any component of the path is a link, including the last one.
Result<OwnedFd> OpenWithoutLinks(const std::string& path);

// Opens a link itself with O_PATH. Fails if another component of the path is a link. A file that is not a link is
// opened as well.
Result<OwnedFd> OpenLink(const std::string& path);

// Returns the identity of an open file. `path` is used in the error message.
Result<FileIdentity> IdentityOf(int fd, const std::string& path);

}  // namespace holdfast::sys
