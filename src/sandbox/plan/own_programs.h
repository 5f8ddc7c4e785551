// The programs that the sandbox itself consists of (the helper, the server beside it, the bundled bubblewrap) and those
// that the server puts first in the PATH of commands. A command that can write them has the next command run its own
// program, outside of every sandbox.
//
// What it does not stop: a policy that opens all of `/`. Under it a command can write what any program is started from.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/plan/rule_map.h"

namespace holdfast::sandbox {

// The directory of the programs for commands, by where the sandbox's own are. It need not exist.
std::string CommandPathBeside(std::string_view directory);

// Refuses rules under which a command of this user could write the programs in `directory`, or replace them. Empty: the
// programs are nowhere.
Result<> CheckOwnPrograms(const RuleMap& map, const std::string& directory);

}  // namespace holdfast::sandbox
