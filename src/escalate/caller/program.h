// The program that a process wants to execute, found as that process finds it. Its file is open, so that what is found
// out about it is found out about one and the same file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/caller/caller_view.h"
#include "escalate/caller/or_errno.h"
#include "exec_policy/judge.h"
#include "sys/file_identity.h"

namespace holdfast::escalate {

// The absolute path of a program, as its caller names it.

// Returns the path, below the directory if it is relative, without the parts "." and without empty parts. It stays as
// it is otherwise: to fold ".." would lead elsewhere where a link comes before it.
std::string JoinedPath(std::string_view directory, std::string_view path);

struct Program {
  // The absolute path by which the program was called. It is the path of the file if the call goes through a link of
  // /proc, which leads elsewhere for other processes.
  std::string path = {};
  std::vector<std::string> other_paths = {};  // of the same file: the path without links, if it is another one
  // The interpreter that the first line of a script names, its argument if there is one, and the interpreter's path
  // without links, followed by both paths of the interpreter that an interpreter has. They are empty for other files,
  // and for files that cannot be read.
  std::vector<std::string> interpreter = {}, interpreter_paths = {};
  std::shared_ptr<const OwnedFd> file = {};  // opened with O_PATH
  // The files of which the kernel executes one: the file itself, its interpreter where it can be found, if that is a
  // script as well the interpreter of that, and so on.
  std::vector<sys::FileIdentity> executables = {};
};

// Finds the program of a path. A relative path begins at `directory`, as in CallerView::Find. Fails with the errno that
// execve would give.
OrErrno<Program> FindProgram(const CallerView& caller, const std::string& path, const std::string& directory = "cwd");

// Returns the beginning of a file, as much of it as the kernel looks at. Nothing is returned if the file can be
// executed but not read.
std::optional<std::string> BeginningOf(int file);

// The file of a program that a process wants to execute, looked at from inside, in the root directory of that process,
// and from outside. An execution that cannot succeed is found out here: the supervisor returns its error before it asks
// anybody, and before a stub that takes the place of the program would hide the error.
struct ProgramLook {
  exec_policy::ProgramFile file = exec_policy::ProgramFile::kOfSystem;
  // The kernel would refuse the file with ENOEXEC: it is a script without #!, which shells then read themselves.
  bool needs_shell = false;
};

// Fails with the errno that execve would give. `state` is that of the process to which the thread of the caller
// belongs.
OrErrno<ProgramLook> LookAtProgram(const CallerView& caller, const Program& program, const CallerState& state);

}  // namespace holdfast::escalate
