// The standard streams of this program, read and written without ever waiting for the other end.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/owned_fd.h"

namespace holdfast::cli {

// Standard input. The descriptor is shared with other programs, such as the shell, so a pipe or a terminal is opened a
// second time to become non-blocking. Where that is not possible, the mode from before comes back when the object is
// destroyed.
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

// Standard output or standard error of this program, written without ever waiting for its reader. The descriptor is
// shared with other programs, such as the shell, so it must not become non-blocking itself: a pipe or a terminal is
// opened a second time instead. Where that is not possible, writes may wait.
class LocalOutput {
 public:
  explicit LocalOutput(int fd);  // borrowed

  // Returns how many bytes were written: fewer than all if the reader is slow. Returns -errno after an error.
  ssize_t Write(std::string_view bytes);

  // The descriptor that becomes writable when the reader has made room.
  int fd() const { return own_.is_open() ? own_.get() : fd_; }

 private:
  enum class Kind { kPlain, kReopened, kSocket };

  int fd_;
  OwnedFd own_;
  Kind kind_ = Kind::kPlain;
};

}  // namespace holdfast::cli
