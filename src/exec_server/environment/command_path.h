// The directory that commands find first in their PATH: `apply_patch`, `applypatch`, and the system's `rg` where there
// is one. It is installed beside the server (cmake/CommandPath.cmake), and no sandbox may open it for writing
// (sandbox/plan/own_programs.h).
#pragma once

#include <string>
#include <string_view>

#include "process/command/environment.h"

namespace holdfast::exec_server {

// The directory that belongs to the server in `program_directory`. Empty if it is not installed, or belongs neither to
// root nor to the owner of `program_directory`, or if everybody can write it.
std::string FindCommandPath(const std::string& program_directory);

// An environment without a PATH gets none, and one whose PATH is empty keeps it: both say where to look for programs. A
// PATH that names the directory already keeps its order: a client may have put it where it wants it.
void PutFirstInPath(process::Environment& environment, std::string_view directory);

}  // namespace holdfast::exec_server
