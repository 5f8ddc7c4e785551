// The commands `holdfast sandbox` and `holdfast debug landlock`, by which people run one command in a sandbox. Their
// options become a SandboxedCommand, and the process becomes the helper with it.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command SandboxCommand();

// The name that the feature has in codex.
Command DebugLandlockCommand();

}  // namespace holdfast::cli
