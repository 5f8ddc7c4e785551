// The command `holdfast inspect`, which tells everything about a run.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command InspectCommand();

}  // namespace holdfast::cli
