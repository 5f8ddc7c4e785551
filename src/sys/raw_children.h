// Finds the children of the calling process. /proc lists the processes, and the kernel says of each whether it is a
// child that can be waited for: no option of the kernel is needed (/proc/PID/task/TID/children is one), and nothing is
// read about the many others. Usable without libc.
//
// A look takes a bounded number of processes: other processes may start more while it goes on, and faster than it
// looks. It goes on where it stopped.
#pragma once

#include <asm/unistd.h>

#include "sys/raw.h"

namespace holdfast::sys::raw {

// Whether it can be waited for, alive or dead. The number of a child stays its own until it is reaped.
HOLDFAST_RAW bool IsChild(int pid) {
  constexpr long by_pid = 1;                                     // P_PID
  constexpr long options = 0x4 | 0x1 | 0x01000000 | 0x40000000;  // WEXITED | WNOHANG | WNOWAIT | __WALL
  return Syscall(__NR_waitid, by_pid, pid, 0, options) == 0;
}

// One entry of getdents64.
struct DirectoryEntry {
  unsigned long inode;
  long offset;  // of the entry behind this one
  unsigned short size;
  unsigned char type;
  char name[1];  // NUL-terminated, longer than this says
};

// The number that is the name of an entry of /proc; 0 when the entry is no process.
HOLDFAST_RAW int PidFromName(const char* name) {
  int pid = 0;
  for (; *name >= '0' && *name <= '9'; ++name) pid = pid * 10 + (*name - '0');
  return *name == '\0' ? pid : 0;
}

// The processes in the order of their numbers.
struct ProcessList {
  int proc;  // /proc, or -errno

  HOLDFAST_RAW static ProcessList Open() {
    return {.proc = static_cast<int>(raw::Open("/proc", 02200000))};  // O_RDONLY | O_CLOEXEC | O_DIRECTORY
  }
  HOLDFAST_RAW void Close() const { raw::Close(proc); }
  HOLDFAST_RAW void GoToBegin() const { Syscall(__NR_lseek, proc, 0, 0); }
};

enum class Look { kComplete, kUnfinished };

// Calls `visit(pid)` for the caller's children among the next `limit` processes, or a few more. A small buffer keeps
// the time short between the listing of a process and the visit.
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
