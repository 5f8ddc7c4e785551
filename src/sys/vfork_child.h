// A child on the memory of this process, which waits until the child has executed a program or ended: nothing needs to
// be copied, and what the child writes is seen here.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/result.h"

namespace holdfast::sys {

// Whether the child has the parent's descriptors in a table of its own. In a shared one, what the child opens is open
// in the parent; a program that it executes has a copy.
enum class Descriptors { kCopied, kShared };

// Runs `body(argument)` on a stack of its own, of at least `stack_size` bytes; what it returns is the exit status. It
// ends by returning, not by _exit: a sanitizer takes a function that never returns for one on this thread's stack.
// Signal handlers of this process would run in the child too: block what has one.
Result<pid_t> StartOnSharedMemory(int (*body)(void*), void* argument, size_t stack_size, Descriptors descriptors);

template <typename Body>
Result<pid_t> StartOnSharedMemory(Body& body, size_t stack_size, Descriptors descriptors = Descriptors::kCopied) {
  return StartOnSharedMemory([](void* given) -> int { return (*static_cast<Body*>(given))(); }, &body, stack_size,
                             descriptors);
}

}  // namespace holdfast::sys
