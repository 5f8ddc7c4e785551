// The built-in list of dangerous commands, for commands that no rule matches. It is a heuristic that decides when to
// ask a person, and not a boundary.
//
// What it does not see: programs that delete under another name or by themselves, such as `find -delete` or a script,
// and commands that a shell script makes by expansions.
#pragma once

#include <span>
#include <string>

namespace holdfast::exec_policy {

// Returns whether a command destroys things that are hard to get back, such as `rm -rf` or `git push --force`. The
// first word is the program, whose directory does not matter. A command behind `sudo`, `env` and the like is looked at,
// and so are the commands of a script behind `bash -c`.
bool IsDangerous(std::span<const std::string> command);

}  // namespace holdfast::exec_policy
