// The commands `holdfast help` and `holdfast version`.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command HelpCommand();
Command VersionCommand();

}  // namespace holdfast::cli
