// The mount table of this process, held open: the kernel notes there when a mount has changed.
#pragma once

#include <string>

#include "base/owned_fd.h"

namespace holdfast::files {

// For one thread.
class MountTable {
 public:
  // Without the table a change is always possible.
  MountTable() = default;
  static MountTable Open();

  bool is_open() const { return file_.is_open(); }

  // Whether no mount has changed since the last question, or since the table was opened. False when in doubt. It takes
  // one call.
  bool IsUnchanged() const;

  // All of it, or nothing when it cannot be read.
  std::string Text() const;

 private:
  OwnedFd file_;
};

}  // namespace holdfast::files
