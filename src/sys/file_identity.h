// Which file a path leads to, by device and inode: the same name may lead to another file a moment later.
//
// What it does not tell apart: a file from one that has got the same number after its end.
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

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

inline bool IsSameFile(const struct stat& a, const struct stat& b) {
  return FileIdentity::Of(a) == FileIdentity::Of(b);
}

// By O_PATH. Fails when a component of the path, the last one too, is a link.
Result<OwnedFd> OpenWithoutLinks(const std::string& path);

// `path` is for the message.
Result<FileIdentity> IdentityOf(int fd, const std::string& path);

}  // namespace holdfast::sys
