// The exit codes for a command that could not be executed, as in a shell. The header is usable without libc.
#pragma once

#include <cerrno>

namespace holdfast::sys {

inline constexpr int kCannotExecute = 126, kNotFound = 127;

// Returns the exit code for an errno of execve. A path whose directory is a file gives 126, as in bash.
constexpr int ExitCodeFor(int error) { return error == ENOENT ? kNotFound : kCannotExecute; }

}  // namespace holdfast::sys
