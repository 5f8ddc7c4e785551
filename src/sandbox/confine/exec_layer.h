// The exec layer makes every execve and execveat of a command wait for a supervisor outside of the sandbox. The
// command's process installs the layer on itself, right before it executes the command, and passes the seccomp listener
// to the supervisor through a socket. All processes that the command starts inherit the layer, and none can remove it.
//
// The layer works on top of another filter or alone, so it checks the ABI itself: a call by the 32-bit ABI kills the
// process, and a call by the x32 ABI fails with ENOSYS, because both have an execve of their own.
//
// What it does not stop: code that a process runs without an execve (a loaded library, an interpreter that reads a
// script by itself). A process has at most one listener, so the set-group-ID bit, about which the command would ask
// another one (set_group_id.h), is refused to a command with this layer and a sandbox.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/confine/seccomp_filter.h"

namespace holdfast::sandbox {

BpfProgram MakeExecLayer();

// Returns why the kernel has refused the layer with `error`, an errno.
std::string WhyNoExecLayer(int error);

// Sets no_new_privs, installs the layer for good, sends the listener through `supervisor`, a blocking unix socket, and
// waits until the supervisor has answered with one byte. Then the process becomes dumpable, because the supervisor
// reads the memory of callers. The process must share its memory with no other process and have no other threads. After
// an error it must not execute anything.
Result<> SubmitToSupervisor(OwnedFd supervisor);

}  // namespace holdfast::sandbox
