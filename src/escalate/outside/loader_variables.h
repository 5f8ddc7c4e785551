// Loader variables are those by which the environment of a command makes any dynamic program load other code, or read
// other files of the C library. A sandboxed command chooses its environment, so a program outside must not get them.
//
// What they are not: variables by which particular programs execute others, such as PYTHONPATH or GIT_SSH_COMMAND.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace holdfast::escalate {

// The entries have the form NAME=VALUE.
bool HasLoaderVariables(std::span<const std::string> environment);
void DropLoaderVariables(std::vector<std::string>& environment);

}  // namespace holdfast::escalate
