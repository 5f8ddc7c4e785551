// The program of the inner stage, in sealed memory. A script can name the program that executes it as its interpreter
// (`#!/proc/self/exe`), and the first program that does so is the inner stage: were that a file of the machine, the
// command would reach it through a mount that is not its own, and could change the file's mode, times and attributes.
//
// What it does not stop: a command that has the inner stage's program executed again. It runs with the rights of the
// command, and leads to the copy in memory.
#pragma once

#include <optional>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class StageImage {
 public:
  // `sealed` is a copy of the running program that the caller has made once for many sandboxes. Without it the running
  // program is copied, which takes some time: that is left to Complete.
  static Result<StageImage> Create(std::optional<int> sealed);

  // Stays the same. To be executed when the image is complete.
  int fd() const { return image_.get(); }

  Result<> Complete();

 private:
  StageImage(OwnedFd image, OwnedFd source) : image_(std::move(image)), source_(std::move(source)) {}

  OwnedFd image_;
  OwnedFd source_;  // closed when nothing is left to be copied
};

}  // namespace holdfast::sandbox
