// The command `holdfast completion`, which prints the completion script of a shell.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command CompletionCommand();

}  // namespace holdfast::cli
