// The command `holdfast prune`, which removes the runs that have ended.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command PruneCommand();

}  // namespace holdfast::cli
