// Standard input of this program, read without ever waiting for its writer. The descriptor is shared with other
// programs, such as the shell, so a pipe or a terminal is opened a second time to become non-blocking. Where that is
// not possible, the mode from before comes back when the object is destroyed.
#pragma once

#include "base/owned_fd.h"

namespace holdfast::cli {

class LocalInput {
 public:
  explicit LocalInput(int fd);  // borrowed
  ~LocalInput();
  LocalInput(const LocalInput&) = delete;
  LocalInput& operator=(const LocalInput&) = delete;

  int fd() const { return own_.is_open() ? own_.get() : fd_; }

 private:
  int fd_;
  int flags_;  // of `fd_` at the beginning
  OwnedFd own_;
};

}  // namespace holdfast::cli
