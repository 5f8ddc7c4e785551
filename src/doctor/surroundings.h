// The surroundings are the paths where an examination looks for programs.
#pragma once

#include <unistd.h>

#include <string>

#include "sandbox/bubblewrap/tool_search.h"

namespace holdfast::doctor {

struct Surroundings {
  std::string program;                  // holdfast, which trials run inside of a sandbox
  std::string sandbox_program;          // the helper beside it, which the server uses too; it may be missing
  std::string path_variable;            // $PATH
  std::string cwd;                      // programs below this directory are not used
  std::string ripgrep = "/usr/bin/rg";  // the end of the link `rg` in libexec/holdfast/path
  sandbox::ToolTrust trust = sandbox::TrustOf(::geteuid());  // decides which programs on PATH are trusted
};

// Returns the surroundings of this process, which is holdfast.
Surroundings OwnSurroundings();

// Returns the directory of the program, where the helper and the bundled bubblewrap are looked for.
std::string DirectoryOf(const std::string& program);

}  // namespace holdfast::doctor
