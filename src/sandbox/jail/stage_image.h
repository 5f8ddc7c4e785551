// The stage image is the program of the inner stage in sealed memory. A script can name the program that executes it as
// its interpreter (`#!/proc/self/exe`), and the program that executes the command is the inner stage. If it were a file
// of the machine, the command would reach that file through a mount outside of the sandbox, and could change its mode,
// times and attributes.
//
// What it does not stop: a command that executes the program of the inner stage again. The program then runs with the
// rights of the command, and its file is the copy in memory.
#pragma once

#include <optional>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class StageImage {
 public:
  // `sealed` is a copy of the running program that the caller has made once for many sandboxes. Without it, Complete
  // copies the running program, which takes some time.
  static Result<StageImage> Create(std::optional<int> sealed);

  // The descriptor of the image, which never changes. It can be executed when the image is complete.
  int fd() const { return image_.get(); }

  Result<> Complete();

 private:
  StageImage(OwnedFd image, OwnedFd source) : image_(std::move(image)), source_(std::move(source)) {}

  OwnedFd image_;
  OwnedFd source_;  // the program to copy; closed when nothing is left to be copied
};

}  // namespace holdfast::sandbox
