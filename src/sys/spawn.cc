#include "sys/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "sys/signals.h"

namespace holdfast::sys {
namespace {

Result<pid_t> SpawnWithCopy(int (*body)(void*), void* argument) {
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("fork");
  if (child == 0) ::_exit(body(argument));
  return child;
}

Result<pid_t> SpawnOnSharedMemory(int sharing, int (*body)(void*), void* argument, size_t stack_bytes) {
  constexpr size_t alignment = 16;  // the ABI demands it
  const size_t size = (stack_bytes + alignment - 1) / alignment * alignment;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(size);
  const SignalsBlocked blocked;
  const pid_t child = ::clone(body, stack.get() + size, sharing | CLONE_VFORK | SIGCHLD, argument);
  if (child < 0) return FailErrno("clone");
  return child;
}

// Duplicates `fd` onto the number `place`. If it has that number already, its close-on-exec flag is cleared, because
// the execution of the program would close it otherwise.
void PutInPlaceInChild(int fd, int place) {
  if (fd == place) {
    ::fcntl(fd, F_SETFD, 0);
  } else {
    ::dup2(fd, place);
  }
}

// Executes the program in the child. Returns only after a failure, with its errno.
int ExecuteInChild(const Program& program) {
  for (int place = 0; place < 3; ++place) PutInPlaceInChild(program.streams[static_cast<size_t>(place)], place);
  if (program.group == Program::Group::kOwn) ::setpgid(0, 0);
  if (program.signals == Program::Signals::kFresh) {
    ResetSignalActions();
    LetSignalsIn();
  }
  if (program.file >= 0) {
    ::fexecve(program.file, program.argv, program.environment);
  } else {
    ::execve(program.path, program.argv, program.environment);
  }
  return errno;
}

}  // namespace

Result<pid_t> Spawn(Sharing sharing, int (*body)(void*), void* argument, size_t stack_bytes) {
  switch (sharing) {
    case Sharing::kNothing:
      return SpawnWithCopy(body, argument);
    case Sharing::kMemory:
      return SpawnOnSharedMemory(CLONE_VM, body, argument, stack_bytes);
    case Sharing::kMemoryAndDescriptors:
      return SpawnOnSharedMemory(CLONE_VM | CLONE_FILES, body, argument, stack_bytes);
  }
  return Fail(ErrorKind::kInternal, "spawn: no such sharing");
}

std::expected<pid_t, NotSpawned> SpawnProgram(const Program& program) {
  int error = 0;
  auto in_child = [&] {
    error = ExecuteInChild(program);
    return 127;
  };
  const auto child = Spawn(Sharing::kMemory, in_child);
  if (!child) return std::unexpected(NotSpawned(NotSpawned::Step::kStart, child.error()));
  if (error == 0) return *child;
  (void)AwaitStatus(*child);
  return std::unexpected(NotSpawned(NotSpawned::Step::kExecution, ErrnoError("start", program.path, error)));
}

int AwaitStatus(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return status;
}

}  // namespace holdfast::sys
