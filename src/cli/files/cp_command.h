// The command `holdfast cp`, which copies files and trees between this machine and the server.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command CpCommand();

}  // namespace holdfast::cli
