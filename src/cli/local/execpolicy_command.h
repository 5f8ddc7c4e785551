// The commands of the family `holdfast execpolicy`: `check` tells what rules files decide about a command, and `allow`
// appends a rule to a rules file.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command ExecpolicyCheckCommand();
Command ExecpolicyAllowCommand();

}  // namespace holdfast::cli
