// Functions that start a child which is not a command under a keeper (process/launch.h). The child runs a function or a
// program. The caller reaps the child, and may open a pidfd of it until then.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>

#include "base/result.h"

namespace holdfast::sys {

// The resources that a child shares with its parent until it executes a program or ends.
//   kNothing               Both processes go on. Either the parent has no other threads, or the child calls only
//                          functions that are async-signal-safe.
//   kMemory                The parent waits, and nothing has to be copied. The parent sees what the child writes.
//   kMemoryAndDescriptors  As kMemory, and a file that the child opens is open in the parent too. A program that the
//                          child executes has a copy of the descriptors.
enum class Sharing { kNothing, kMemory, kMemoryAndDescriptors };

inline constexpr size_t kSpawnStackBytes = 64 << 10;

// Runs `body(argument)` in a child, and returns the pid of the child. The value that the body returns is the exit
// status. A body that shares memory runs on a stack of at least `stack_bytes`. All signals are blocked in it, because a
// signal handler of the parent would run on the shared memory too. Such a body must end by returning and not by _exit:
// a sanitizer assumes that a function which never returns runs on the parent's stack.
Result<pid_t> Spawn(Sharing sharing, int (*body)(void*), void* argument, size_t stack_bytes);

template <typename Body>
Result<pid_t> Spawn(Sharing sharing, Body& body, size_t stack_bytes = kSpawnStackBytes) {
  return Spawn(sharing, [](void* given) -> int { return (*static_cast<Body*>(given))(); }, &body, stack_bytes);
}

// The settings with which a program starts. It refers to objects that must exist during the call of SpawnProgram.
struct Program {
  // kFresh: no signal is blocked, and each has its default action. kBlocked: all signals are blocked, and have the
  // actions of the parent.
  enum class Signals { kFresh, kBlocked };
  enum class Group { kOfParent, kOwn };

  const char* path;  // not searched for in PATH
  int file = -1;     // if set, a descriptor of the program; the path is then used only in messages
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

// Starts a program, and returns when it runs. A failure leaves no child behind.
std::expected<pid_t, NotSpawned> SpawnProgram(const Program& program);

// Waits for the end of a child, reaps it, and returns its status as wait does. Returns 0 if the child has been reaped
// already; the kernel reaps children by itself if SIGCHLD is ignored.
int AwaitStatus(pid_t child);

}  // namespace holdfast::sys
