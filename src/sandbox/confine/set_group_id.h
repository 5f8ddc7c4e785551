// Set-group-ID from inside: for directories, where it says which group new files get, and never for files, which every
// user would execute with the rights of the group. A filter cannot tell the two apart, because a path is behind a
// pointer and a descriptor is a number. So a command's call that sets the bit waits until pid 1 has looked: a child of
// pid 1 opens what is meant as a directory, and changes the mode of what it has opened. Other changes of modes are
// decided by the filters alone, and cost nothing more.
//
// What it costs: the bit is refused, for directories too, where pid 1 cannot look at the caller (no /proc of this pid
// namespace, Yama from scope 2 on, a process that is not dumpable), or where somebody outside answers for this process
// already, because a process has one listener. For the same reason a command cannot have one of its own.
#pragma once

#include <cstdint>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/confine/seccomp_filter.h"

namespace holdfast::sandbox {

enum class SetGroupId { kAsk, kRefuse };

// What a command has on top of the filter of Caller::kFirstProcess.
BpfProgram MakeCommandLayer(SetGroupId answer);

// For this thread and what it starts, for good. The descriptor is for a SetGroupIdDesk; a closed one means that nobody
// can be asked, and that the bit is refused.
Result<OwnedFd> InstallCommandLayer();

// Whether this process is pid 1, and /proc shows the processes of its namespace.
bool SeesProcesses();

// Where pid 1 is asked.
class SetGroupIdDesk {
 public:
  explicit SetGroupIdDesk(OwnedFd listener) : listener_(std::move(listener)) {}

  // To be polled; -1 when nobody can ask.
  int fd() const { return listener_.get(); }
  void Close() { listener_.Reset(); }

  // When there is something to read. A child does what may take time: pid 1 never waits for a file system.
  void Answer() const;

 private:
  void Reply(uint64_t id, int error) const;

  OwnedFd listener_;
};

}  // namespace holdfast::sandbox
