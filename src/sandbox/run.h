// Run is the whole work of the helper: it runs one command under one policy.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/outcome.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Returns the plan for the first backend that Run would try, as text with one line per step. The command has
// its profile as a value.
Result<std::string> Explain(const SandboxedCommand& command);

// Runs the command and returns its exit status. Where the profile asks for no sandbox, this process becomes the
// command. Messages begin with the name `called_as` (outcome.h). `file_helper` runs instead of a command when the flag
// --fs-helper asks for it; it is null in a program that has no file helper.
Outcome Run(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper);

}  // namespace holdfast::sandbox
