// Finds the direct children of a process by reading /proc/*/stat: the one way that needs no kernel option
// (/proc/PID/task/TID/children is often not built in). Usable without libc; the caller sees a snapshot, so it asks
// again until nothing is left. A direct child of the caller cannot be mistaken for another process: its pid stays taken
// until the caller reaps it.
#pragma once

#include "sys/raw.h"

namespace holdfast::sys::raw {

// The parent in the text of /proc/PID/stat: "PID (COMM) STATE PPID ...". COMM may hold anything, also ") R 1", so the
// last parenthesis counts.
HOLDFAST_RAW int ParentFromStat(const char* text, long size) {
  long at = size - 1;
  while (at >= 0 && text[at] != ')') --at;
  if (at < 0) return -1;
  at += 4;  // ") S "
  int parent = 0;
  for (; at < size && text[at] >= '0' && text[at] <= '9'; ++at) parent = parent * 10 + (text[at] - '0');
  return parent;
}

HOLDFAST_RAW int ParentOf(const char* pid_text) {
  char path[32] = "/proc/";
  int at = 6;
  for (int i = 0; pid_text[i] != '\0' && at < 20; ++i) path[at++] = pid_text[i];
  const char tail[] = "/stat";
  for (char c : tail) path[at++] = c;
  long fd = Open(path, 02000000);  // O_RDONLY | O_CLOEXEC
  if (fd < 0) return -1;
  char text[512];
  long size = Read(static_cast<int>(fd), text, sizeof text);
  Close(static_cast<int>(fd));
  return size > 0 ? ParentFromStat(text, size) : -1;
}

// One entry of getdents64.
struct DirectoryEntry {
  unsigned long inode;
  long offset;
  unsigned short size;
  unsigned char type;
  char name[1];  // NUL-terminated, longer than this says
};

// Calls `visit(pid)` for every process whose parent is `parent`. Returns -errno when /proc cannot be read.
template <typename Visit>
HOLDFAST_RAW long ForEachChild(int parent, Visit visit) {
  long proc = Open("/proc", 02200000);  // O_RDONLY | O_CLOEXEC | O_DIRECTORY
  if (proc < 0) return proc;
  alignas(8) char buffer[4096];
  long size;
  while ((size = Syscall(__NR_getdents64, proc, Address(buffer), sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      auto* entry = reinterpret_cast<DirectoryEntry*>(buffer + at);
      at += entry->size;
      if (entry->name[0] < '1' || entry->name[0] > '9' || ParentOf(entry->name) != parent) continue;
      int pid = 0;
      for (const char* c = entry->name; *c != '\0'; ++c) pid = pid * 10 + (*c - '0');
      visit(pid);
    }
  }
  Close(static_cast<int>(proc));
  return size;
}

}  // namespace holdfast::sys::raw
