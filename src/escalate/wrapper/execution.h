// The execution of a program in the wrapper's own place, as a shell would do it.
#pragma once

#include <string>
#include <vector>

namespace holdfast::escalate {

// Executes the file with the arguments and the environment of this process. A file that the kernel does not know how to
// execute is run as a script of /bin/sh, if it is text. Returns only if nothing can be executed, with the exit code of
// shells: 127 if a file is missing, 126 otherwise. The reason is written to standard error.
int ExecuteHere(const std::string& file, std::vector<std::string> argv);

}  // namespace holdfast::escalate
