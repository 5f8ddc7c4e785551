// The lookup of a file as another process makes it: in its root directory, from its working directory, and with its own
// links in /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

// The state of a process that calls execve. All functions read /proc by the number of a thread: what they return counts
// only if that thread is known to exist afterwards.
struct CallerState {
  pid_t process = 0;          // the thread group
  uint64_t capabilities = 0;  // the effective ones
  uid_t user = 0;             // the one that file permissions are checked for
};

OrErrno<CallerState> ReadCallerState(pid_t tid);

// Returns the path of the working directory, in the mount namespace of the process.
OrErrno<std::string> WorkingDirectoryOf(pid_t tid);

// Returns the path that a link in /proc/TID has, such as "exe" or "fd/3".
OrErrno<std::string> LinkOf(pid_t tid, const std::string& name);

struct FoundFile {
  OwnedFd file;  // opened with O_PATH
  // The path means the file only to the process: the lookup went through a link of /proc, such as /proc/self/fd/3, or
  // began in a directory that was deleted.
  bool through_process = false;
};

// A process in whose place files are looked up.
class CallerView {
 public:
  // Fails with EPERM if this process may not look at the other one.
  static OrErrno<CallerView> Of(pid_t tid);

  pid_t tid() const { return tid_; }
  int root() const { return root_.get(); }

  // Finds the file of a path. A relative path begins at `directory`, which is the name of a link in /proc/TID, such as
  // "cwd" or "fd/3"; an empty path is what this link leads to. Fails with the errno that the process would get.
  OrErrno<FoundFile> Find(const std::string& path, const std::string& directory = "cwd") const;

 private:
  CallerView(pid_t tid, OwnedFd root) : tid_(tid), root_(std::move(root)) {}
  OrErrno<OwnedFd> OpenLink(const std::string& link) const;
  OrErrno<FoundFile> Walk(const std::string& path, OwnedFd start) const;

  pid_t tid_;
  OwnedFd root_;
};

// Returns the path of an open file in the mount namespace that it was opened in, with all links followed. Fails with
// ENAMETOOLONG for a path that is longer than the kernel's limit.
OrErrno<std::string> RealPathOf(int file);

}  // namespace holdfast::escalate
