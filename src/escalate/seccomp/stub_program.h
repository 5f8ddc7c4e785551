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

// Whether the supervisor can look at /proc/PID/exe of a process that runs the stub. It can if it has CAP_SYS_PTRACE, or
// if the process is in another user namespace, which belongs to the supervisor's user. A process that refuses the look
// there runs another program that cannot be read.
enum class Inspection { kPossible, kRefused };

// Finds this out by the first process of the tree, which the helper has made inspectable.
Inspection InspectionOfStubs(pid_t first_caller);

class StubProgram {
 public:
  static Result<StubProgram> Create();

  int fd() const { return image_.get(); }

  // Returns whether the permissions are those that the image was made with, and nobody has changed them meanwhile.
  bool IsIntact() const;

  // Returns whether a process, which has just executed a program, runs the stub. With kRefused, another program that
  // can be executed and not read is taken for the stub.
  bool IsExecutedBy(pid_t process, Inspection inspection) const;

 private:
  StubProgram(OwnedFd image, mode_t mode, timespec made) : image_(std::move(image)), mode_(mode), made_(made) {}

  OwnedFd image_;
  mode_t mode_;
  timespec made_;  // the time of the last change of the inode
};

}  // namespace holdfast::escalate
