// The command path is the directory that comes first in the PATH of commands. It has `apply_patch`, `applypatch`, and a
// link to the system's `rg` if that is installed. The directory is installed beside the server
// (cmake/CommandPath.cmake), and no sandbox may make it writable (sandbox/plan/own_programs.h).
#pragma once

#include <string>
#include <string_view>

#include "process/command/environment.h"

namespace holdfast::exec_server {

// Returns the command path of the server that is installed in `program_directory`. The result is empty if there is
// none, if it belongs neither to root nor to the owner of `program_directory`, or if every user can write it.
std::string FindCommandPath(const std::string& program_directory);

// Puts `directory` first in the PATH of `environment`. An environment without a PATH, or with an empty one, stays as it
// is, because both decide where programs are looked for. A PATH that has the directory already stays as it is too: a
// client may have put the directory at the place where it wants it.
void PutFirstInPath(process::Environment& environment, std::string_view directory);

}  // namespace holdfast::exec_server
