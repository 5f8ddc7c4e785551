// The process of `holdfast` as the helper: it executes the program beside it, holdfast-linux-sandbox, which is static
// and has the whole sandbox in it.
//
// What it does not do: look whether the program is the one that was installed. A user who can replace it can replace
// `holdfast` too.
#pragma once

#include <string_view>

#include "sandbox/outcome.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Whether a program was called by one of the helper's names, as callers of codex-linux-sandbox do with a link to
// `holdfast`.
bool IsHelperName(std::string_view called_as);

// Executes the helper with `argv`, whose first word is the name that its messages begin with. Returns only when that
// fails.
Failure BecomeHelper(char* const* argv);

// Executes the helper for `command`; its profile, which is text, goes by descriptor. Returns only when that fails.
Failure BecomeHelper(SandboxedCommand command, std::string_view called_as);

}  // namespace holdfast::sandbox
