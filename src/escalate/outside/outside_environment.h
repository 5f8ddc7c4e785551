// The environment of a command outside. A process inside can set any variable, and many of them make a program execute
// others (LD_PRELOAD, PATH, GIT_SSH_COMMAND, BASH_ENV), so a command outside does not get the environment of its
// caller. It gets the one that the supervised command was started with, which a trusted client has chosen: the same
// that it would have without a sandbox. Of the caller's variables it gets those that the rules list, and a few about
// the terminal and the language, if their values cannot be the path of a file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "process/command/environment.h"

namespace holdfast::escalate {

// Returns the caller's variables that a command outside gets and that differ from those of the start. The entries of
// `caller` have the form NAME=VALUE; malformed ones are left out, and of several with one name the first one counts.
process::Environment CarriedVariables(const process::Environment& start, std::span<const std::string> caller,
                                      std::span<const std::string> listed);

// Returns the whole environment, as NAME=VALUE entries. PWD is the directory that the command runs in.
std::vector<std::string> OutsideEnvironment(const process::Environment& start, const process::Environment& carried,
                                            const std::string& directory);

// Returns about how much memory the variables take.
size_t BytesOf(const process::Environment& variables);

}  // namespace holdfast::escalate
