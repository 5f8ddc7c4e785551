// The command `holdfast run`, which runs a command on a server as if it ran here.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command RunCommand();

}  // namespace holdfast::cli
