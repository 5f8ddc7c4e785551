// The start of a child that is not a command under a keeper (process/launch.h): a function in a process of its own, or
// a program. The caller reaps the child, and may open a pidfd of it until then.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>

#include "base/result.h"

namespace holdfast::sys {

// What a child has in common with its parent until it executes a program or ends.
//   kNothing               both go on. The parent has no other threads, or the child calls only what is
//                          async-signal-safe.
//   kMemory                the parent waits, and nothing needs to be copied. The parent sees what the child writes.
//   kMemoryAndDescriptors  likewise. What the child opens is open in the parent; a program that it executes has a copy.
enum class Sharing { kNothing, kMemory, kMemoryAndDescriptors };

inline constexpr size_t kSpawnStackBytes = 64 << 10;

// Runs `body(argument)`; what it returns is the exit status. A body that shares memory runs on a stack of at least
// `stack_bytes`, with all signals blocked, because a signal handler of the parent's would run there too. It ends by
// returning, not by _exit: a sanitizer takes a function that never returns for one on the parent's stack.
Result<pid_t> Spawn(Sharing sharing, int (*body)(void*), void* argument, size_t stack_bytes);

template <typename Body>
Result<pid_t> Spawn(Sharing sharing, Body& body, size_t stack_bytes = kSpawnStackBytes) {
  return Spawn(sharing, [](void* given) -> int { return (*static_cast<Body*>(given))(); }, &body, stack_bytes);
}

// What a program starts with. Borrowed for the call.
struct Program {
  // kFresh: none is blocked and each has its default action. kBlocked: all are blocked, the actions are the parent's.
  enum class Signals { kFresh, kBlocked };
  enum class Group { kOfParent, kOwn };

  const char* path;  // not searched for in PATH
  int file = -1;     // if there is one it is the program, and the path is for messages
  char* const* argv;
  char* const* environment;
  std::array<int, 3> streams;  // become descriptors 0, 1 and 2
  Signals signals = Signals::kFresh;
  Group group = Group::kOfParent;
};

struct NotSpawned {
  enum class Step { kStart, kExecution };
  Step step;
  Error error;
};

// Returns when the program is running. A failure leaves no child behind.
std::expected<pid_t, NotSpawned> SpawnProgram(const Program& program);

// Waits for the end of a child and reaps it: its status as wait gives it. 0 when the child has been reaped already, as
// the kernel does by itself where SIGCHLD is ignored.
int AwaitStatus(pid_t child);

}  // namespace holdfast::sys
