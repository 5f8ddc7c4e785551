// The files that a running server needs beside its own program.
#pragma once

#include <string>

#include "sandbox/helper_command/sandbox_program.h"

namespace holdfast::exec_server {

// The defaults are those of the program `holdfast`, whose helper lies beside it. A program that embeds a server names
// the files of an installed holdfast. No sandbox lets its command write the directory of the helper.
struct RuntimePaths {
  std::string sandbox_helper = sandbox::HelperPath();  // holdfast-linux-sandbox
  std::string bubblewrap = {};  // empty: it is looked for in PATH, and then in the resources beside the helper
  // The program `holdfast`, which examines the sandbox when the server starts. Without it, nothing is examined.
  std::string holdfast = {};
};

// Returns the paths of a holdfast whose programs are installed in `directory`, such as /usr/local/bin.
RuntimePaths InstalledIn(const std::string& directory);

}  // namespace holdfast::exec_server
