// The listener of a seccomp filter: it yields the calls of execve and execveat that wait, and answers them. A call is
// answered exactly once. It may end at any time because its process is killed; every function then does nothing.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/owned_fd.h"
#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

// One call that waits. The addresses are those of the calling process.
struct ExecCall {
  uint64_t id = 0;
  pid_t tid = 0;  // a thread, not necessarily the first one of its process; 0 if it is in another pid namespace
  enum class Kind { kExecve, kExecveat } kind = Kind::kExecve;
  int directory = AT_FDCWD;
  uint64_t path = 0, argv = 0, envp = 0;
  int flags = 0;
};

class Listener {
 public:
  explicit Listener(OwnedFd fd);

  int fd() const { return fd_.get(); }

  // Returns the next call; nothing if its process has been killed meanwhile. Is called when fd() is readable.
  std::optional<ExecCall> Receive() const;

  // Returns whether the call still waits. While it does, no other process can have got the number of its thread: what
  // was read by that number before is right.
  bool IsWaiting(uint64_t id) const;

  void Continue(uint64_t id) const;
  void Fail(uint64_t id, int errno_value) const;

  // Opens a copy of a descriptor, close-on-exec, in the calling process, and returns its number there.
  OrErrno<int> AddFd(uint64_t id, int fd) const;
  // Does the same, and answers the call with the number.
  OrErrno<int> AnswerWithFd(uint64_t id, int fd) const;

 private:
  OwnedFd fd_;
};

}  // namespace holdfast::escalate
