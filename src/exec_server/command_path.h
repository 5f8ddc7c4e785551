// The directory that commands find first in their PATH: `apply_patch`, `applypatch`, and the system's `rg` where there
// is one. It is installed beside the server (cmake/CommandPath.cmake), and no sandbox may open it for writing
// (sandbox/own_programs.h).
#pragma once

#include <string>
#include <string_view>

#include "process/environment.h"

namespace holdfast::exec_server {

// By where the server's programs are. Empty when nothing is installed there, or not by the owner of these.
std::string FindCommandPath(const std::string& program_directory);

// An environment without a PATH gets none, and one whose PATH is empty keeps it: both say where to look for programs. A
// PATH that names the directory already keeps its order: a client may have put it where it wants it.
void PutFirstInPath(process::Environment& environment, std::string_view directory);

}  // namespace holdfast::exec_server
