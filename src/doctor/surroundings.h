// Where an examination looks for programs.
#pragma once

#include <string>

namespace holdfast::doctor {

struct Surroundings {
  std::string program;        // holdfast: also the sandbox helper, and what is run inside
  std::string path_variable;  // $PATH
  std::string cwd;            // programs below it are not used
};

// Of this process, which is holdfast.
Surroundings OwnSurroundings();

// The directory of the program, where the bundled bubblewrap is looked for.
std::string DirectoryOf(const std::string& program);

}  // namespace holdfast::doctor
