// The programs that the sandbox itself consists of: the helper, the server beside it, the bundled bubblewrap. A command
// that can write them has the next command run its own program, outside of every sandbox.
//
// What it does not stop: a policy that opens all of `/`. Under it a command can write what any program is started from.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/rule_map.h"

namespace holdfast::sandbox {

// Refuses rules under which a command of this user could write the programs in `directory`, or replace them. Empty: the
// programs are nowhere.
Result<> CheckOwnPrograms(const RuleMap& map, const std::string& directory);

}  // namespace holdfast::sandbox
