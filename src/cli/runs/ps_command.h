// The command `holdfast ps`, which lists the runs of a server.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command PsCommand();

}  // namespace holdfast::cli
