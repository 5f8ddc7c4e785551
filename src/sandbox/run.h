// One command under one policy, from its value to the exit status.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/outcome.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// The plan that Run would use where bubblewrap works, one line per step. The profile is given as text.
Result<std::string> Explain(const SandboxedCommand& command);

// Runs the command; where the profile asks for no sandbox, this process becomes the command. Messages are written under
// the name `called_as` (outcome.h). `file_helper` is what a command line with --fs-helper runs: null where this program
// has none.
Outcome Run(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper);

}  // namespace holdfast::sandbox
