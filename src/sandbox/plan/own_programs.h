// A check that a policy does not let the command write holdfast's own programs: the helper, the server beside it, the
// bundled bubblewrap, and the programs that the server puts first in the PATH of commands. A command that could replace
// one of them would have its own program run outside of every sandbox when the next command is started.
//
// What it does not stop: a policy that makes all of `/` writable. Under it a command can replace any program.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/plan/rule_map.h"

namespace holdfast::sandbox {

// Returns the directory of the programs that commands find first in their PATH. `directory` is the directory of the
// other programs. The result need not exist.
std::string CommandPathBeside(std::string_view directory);

// Refuses rules under which a command of this user could write the programs in `directory`, or replace them. With an
// empty `directory` nothing is checked.
Result<> CheckOwnPrograms(const RuleMap& map, const std::string& directory);

}  // namespace holdfast::sandbox
