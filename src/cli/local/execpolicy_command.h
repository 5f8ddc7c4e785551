// The command `holdfast execpolicy check`, which tells what rules files decide about a command.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command ExecpolicyCheckCommand();

}  // namespace holdfast::cli
