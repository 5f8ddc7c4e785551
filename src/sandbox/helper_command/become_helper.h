// The program `holdfast` becomes the helper by executing holdfast-linux-sandbox, a static program in the same directory
// that contains the whole sandbox.
//
// What it does not stop: a replaced helper. Nothing checks that the program is the one that was installed, because a
// user who can replace it can replace `holdfast` too.
#pragma once

#include <string_view>

#include "sandbox/outcome.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Returns whether a program was called by one of the helper's names. Callers of codex-linux-sandbox call `holdfast` so,
// by a link.
bool IsHelperName(std::string_view called_as);

// Executes the helper with `argv`. The messages of the helper begin with argv[0]. Returns only when the execution
// fails.
Failure BecomeHelper(char* const* argv);

// Executes the helper for `command`. Its profile, a value, is passed by descriptor. Returns only when the execution
// fails.
Failure BecomeHelper(SandboxedCommand command, std::string_view called_as);

}  // namespace holdfast::sandbox
