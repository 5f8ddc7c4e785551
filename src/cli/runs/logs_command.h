// The command `holdfast logs`, which prints the output of a run.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command LogsCommand();

}  // namespace holdfast::cli
