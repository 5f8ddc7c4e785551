// The mounts that keep a file helper from what its policy protects. Whoever removes the file or directory that one lies
// over, outside of the sandbox, takes the mount away with it, and what is made in its place is open to the helper. So
// the helper looks whether they are still there.
#pragma once

#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::fs {

class ProtectedMounts {
 public:
  // None at all.
  ProtectedMounts() = default;

  // The paths are mount points of this process.
  explicit ProtectedMounts(std::vector<std::string> paths);

  bool empty() const { return paths_.empty(); }

  // Whether every one of them is, and always was. One call unless the kernel has noted a change among all mounts.
  bool AreInPlace() const;

 private:
  std::vector<std::string> paths_;
  OwnedFd table_;  // /proc/self/mountinfo; without it every path is looked at each time
  mutable bool are_in_place_ = true;
};

}  // namespace holdfast::fs
