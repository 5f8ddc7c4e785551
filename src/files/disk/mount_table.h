// The mount table of this process. It is held open, because the kernel tells by the open file when a mount has changed.
#pragma once

#include <string>

#include "base/owned_fd.h"

namespace holdfast::files {

// Only one thread may use an object of this class.
class MountTable {
 public:
  // A table that is not open: IsUnchanged always returns false.
  MountTable() = default;
  static MountTable Open();

  bool is_open() const { return file_.is_open(); }

  // Returns whether no mount has changed since the last call, or since the table was opened; false when in doubt. This
  // takes one system call.
  bool IsUnchanged() const;

  // Returns the whole text of the table; empty if it cannot be read.
  std::string Text() const;

 private:
  OwnedFd file_;
};

}  // namespace holdfast::files
