// Covers makes the empty, read-only directories and files that hide others. There is one file system for each mode of a
// directory, and one for all files; every further cover is a copy of its mount. A copy is cheaper, and a mount that was
// never attached would cost a grace period of the kernel when it is closed.
#pragma once

#include <cstdint>
#include <map>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class Covers {
 public:
  // Covers are attached in the tree whose root directory is `root`, which is borrowed.
  explicit Covers(int root) : root_(root) {}

  // These functions return a mount that the caller has to attach before the next call.
  Result<OwnedFd> Directory(uint32_t mode);
  Result<OwnedFd> File(uint32_t mode);

  // Detaches the file system of the files, which lies on the root until then. The current directory of this process is
  // undefined afterwards.
  Result<> Finish();

 private:
  Result<> OpenFiles();

  const int root_;
  std::map<uint32_t, OwnedFd> directories_;
  OwnedFd files_;
};

}  // namespace holdfast::sandbox
