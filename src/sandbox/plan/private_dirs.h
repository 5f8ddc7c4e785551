// The directories that every sandbox hides because a private server of the user may listen there (runtime_dir.h). A
// command that listened in its place would get the arguments and the environment of the user's next `holdfast` command.
//
// What this does not stop: a command that may write the home directory, where there is no ~/.cache or where it is a
// link. It can make the directory itself. Clients look at the process that listens before they send anything.
#pragma once

#include <string>
#include <vector>

#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// Returns those of `places` that a plan can deny, without links in their paths: not those whose parent directory is
// missing, those that are links, which no client follows, and those in /dev, of which a sandbox has its own. If
// `places` is empty, they are those of this process's environment. A place that is missing, and that the command could
// make, is made, so that it can be covered without a placeholder.
std::vector<std::string> FindPrivateDirs(std::vector<std::string> places, const Resolution& resolution);

}  // namespace holdfast::sandbox
