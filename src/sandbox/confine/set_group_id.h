// A command may set the set-group-ID bit of a directory, where it decides which group new files get. It may never set
// the bit of a file, because every user would execute that file with the rights of its group. A filter cannot tell the
// two apart: a path is behind a pointer, and a descriptor is only a number. A command's call that sets the bit
// therefore waits until pid 1 has answered it: a child of pid 1 opens the file that the call names, as a directory, and
// changes the mode of what it has opened. Calls that do not set the bit are decided by the filters alone, and cost
// nothing more.
//
// The bit is refused, for directories too, where pid 1 cannot inspect the calling process (/proc is not that of this
// pid namespace, Yama is at scope 2 or above, the process is not dumpable), and where a process outside already has a
// seccomp listener for this one, because a process has at most one. For the same reason a command cannot install a
// listener of its own.
#pragma once

#include <cstdint>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/confine/seccomp_filter.h"

namespace holdfast::sandbox {

enum class SetGroupId { kAsk, kRefuse };

// Returns the filter that a command has on top of the filter of Caller::kFirstProcess. A call that sets the bit asks
// pid 1, or is refused.
BpfProgram MakeCommandLayer(SetGroupId answer);

// Installs the command layer for this thread and all that it starts, for good. Returns the descriptor for a
// SetGroupIdSupervisor. A closed descriptor means that a listener could not be installed, and that the bit is refused.
Result<OwnedFd> InstallCommandLayer();

// Returns whether this process is pid 1, and /proc shows the processes of its pid namespace.
bool SeesProcesses();

// SetGroupIdSupervisor is the end of pid 1: it answers the calls that wait.
class SetGroupIdSupervisor {
 public:
  explicit SetGroupIdSupervisor(OwnedFd listener) : listener_(std::move(listener)) {}

  // The descriptor to poll for calls that wait; -1 when there can be none.
  int fd() const { return listener_.get(); }
  void Close() { listener_.Reset(); }

  // Answers one call. It is called when fd() is readable. A child of pid 1 does the work, so that pid 1 never waits for
  // a file system.
  void Answer() const;

 private:
  void Reply(uint64_t id, int error) const;

  OwnedFd listener_;
};

}  // namespace holdfast::sandbox
