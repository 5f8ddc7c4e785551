// The command `holdfast man`, which prints the pages of the manual or writes them to files.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command ManCommand();

}  // namespace holdfast::cli
