// Raw mode of the terminal that the user sits at: every key is passed on as it is typed. The settings from before come
// back when the object is destroyed, and also when the program is ended by a signal or calls exit.
//
// What it does not cover: SIGKILL, after which nothing can be restored.
#pragma once

#include <termios.h>

#include "base/result.h"

namespace holdfast::cli {

class RawMode {
 public:
  // At most one object may exist at a time, because signal handlers can know of only one. `fd` is borrowed.
  static Result<RawMode> Enter(int fd);

  ~RawMode();
  RawMode(RawMode&& other) noexcept;
  RawMode& operator=(RawMode&&) = delete;

  // These functions leave raw mode and enter it again, around a stop of the program.
  void Suspend() const;
  Result<> Resume() const;

 private:
  explicit RawMode(int fd) : fd_(fd) {}

  int fd_;  // -1 if moved from
};

}  // namespace holdfast::cli
