// The commands that work on files of a server.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command CatCommand();
Command CpCommand();  // copies files and trees between this machine and the server
Command LsCommand();
Command MkdirCommand();
Command RmCommand();
Command StatCommand();

}  // namespace holdfast::cli
