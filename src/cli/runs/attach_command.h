// The command `holdfast attach`, which connects this terminal with a run.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command AttachCommand();

}  // namespace holdfast::cli
