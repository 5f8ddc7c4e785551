// The program that a process wants to execute, found as that process finds it. Its file is open, so that what is found
// out about it is found out about one and the same file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/caller/caller_view.h"
#include "escalate/caller/or_errno.h"
#include "sys/file_identity.h"

namespace holdfast::escalate {

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

}  // namespace holdfast::escalate
