// The command `holdfast doctor`, which tries out whether the sandbox works on this machine, and prints why it does not.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command DoctorCommand();

}  // namespace holdfast::cli
