// Where an examination looks for programs.
#pragma once

#include <unistd.h>

#include <string>

#include "sandbox/jail/tool_search.h"

namespace holdfast::doctor {

struct Surroundings {
  std::string program;          // holdfast: what is run inside
  std::string sandbox_program;  // beside it, as the server takes it; nobody has looked whether it is there
  std::string path_variable;    // $PATH
  std::string cwd;              // programs below it are not used
  sandbox::ToolTrust trust = sandbox::TrustOf(::geteuid());  // in programs on PATH
};

// Of this process, which is holdfast.
Surroundings OwnSurroundings();

// The directory of the program, where the sandbox program and the bundled bubblewrap are looked for.
std::string DirectoryOf(const std::string& program);

}  // namespace holdfast::doctor
