// The stub as a program that processes of one tree execute by a descriptor: an image in memory that can be executed and
// not read, so that no process without privileges can inspect the stub. The descriptor is put into processes that are
// not trusted. The kernel seals the content of the image, but it can seal no permissions: a process of the server's
// user can make the image readable. The kernel then notes the change, and an image that was changed is not trusted
// again.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::escalate {

class StubProgram {
 public:
  static Result<StubProgram> Create();

  int fd() const { return image_.get(); }

  // Returns whether the permissions are those that the image was made with, and nobody has changed them meanwhile.
  bool IsIntact() const;

  // Returns whether a process, which has just executed a program, runs the stub and cannot be inspected.
  bool IsExecutedBy(pid_t process) const;

 private:
  StubProgram(OwnedFd image, mode_t mode, timespec made) : image_(std::move(image)), mode_(mode), made_(made) {}

  OwnedFd image_;
  mode_t mode_;
  timespec made_;  // the time of the last change of the inode
};

}  // namespace holdfast::escalate
