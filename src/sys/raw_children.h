// Finds the children of the calling process. /proc lists all processes, and waitid says of each whether it is a child.
// This needs no build option of the kernel, as /proc/PID/task/TID/children does, and reads nothing about the many other
// processes. The header is usable without libc.
//
// One call looks at a bounded number of processes, because other processes may start more of them faster than the call
// can look. The next call continues where the last one stopped.
#pragma once

#include <asm/unistd.h>

#include "sys/raw.h"

namespace holdfast::sys::raw {

// Returns whether a process is a child of the caller, alive or dead. The pid of a child is not reused until the child
// is reaped.
HOLDFAST_RAW bool IsChild(int pid) {
  constexpr long by_pid = 1;                                     // P_PID
  constexpr long options = 0x4 | 0x1 | 0x01000000 | 0x40000000;  // WEXITED | WNOHANG | WNOWAIT | __WALL
  return Syscall(__NR_waitid, by_pid, pid, 0, options) == 0;
}

// One entry of getdents64.
struct DirectoryEntry {
  unsigned long inode;
  long offset;  // the offset of the next entry
  unsigned short size;
  unsigned char type;
  char name[1];  // the first byte of a name that ends in a NUL
};

// Returns the pid that is the name of an entry of /proc, or 0 if the entry is not a process.
HOLDFAST_RAW int PidFromName(const char* name) {
  int pid = 0;
  for (; *name >= '0' && *name <= '9'; ++name) pid = pid * 10 + (*name - '0');
  return *name == '\0' ? pid : 0;
}

// The list of all processes, in the order of their pids.
struct ProcessList {
  int proc;  // a descriptor of /proc, or -errno

  HOLDFAST_RAW static ProcessList Open() {
    return {.proc = static_cast<int>(raw::Open("/proc", 02200000))};  // O_RDONLY | O_CLOEXEC | O_DIRECTORY
  }
  HOLDFAST_RAW void Close() const { raw::Close(proc); }
  HOLDFAST_RAW void GoToBegin() const { Syscall(__NR_lseek, proc, 0, 0); }
};

enum class Look { kComplete, kUnfinished };

// Calls `visit(pid)` for the children of the caller among the next `limit` processes, or a few more. A small buffer
// keeps the time short between the listing of a process and the visit.
template <typename Visit>
HOLDFAST_RAW Look VisitChildren(const ProcessList& list, int limit, Visit visit) {
  alignas(8) char buffer[512];
  while (limit > 0) {
    const long size = Syscall(__NR_getdents64, list.proc, Address(buffer), sizeof buffer);
    if (size <= 0) return Look::kComplete;
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->size;
      const int pid = PidFromName(entry->name);
      if (pid == 0) continue;
      --limit;
      if (IsChild(pid)) visit(pid);
    }
  }
  return Look::kUnfinished;
}

}  // namespace holdfast::sys::raw
