// The command `holdfast exec-server`, which serves until it is told to stop.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command ExecServerCommand();

}  // namespace holdfast::cli
