// The commands `holdfast wait`, `holdfast kill` and `holdfast send`, which wait for runs and steer them.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command WaitCommand();
Command KillCommand();
Command SendCommand();

}  // namespace holdfast::cli
