// The commands `holdfast ls`, `cat`, `rm`, `mkdir` and `stat`, which work on files of the server.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command LsCommand();
Command CatCommand();
Command RmCommand();
Command MkdirCommand();
Command StatCommand();

}  // namespace holdfast::cli
