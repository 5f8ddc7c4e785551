// The command `holdfast rendezvous`, which joins clients to executors until it is told to stop.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command RendezvousCommand();

}  // namespace holdfast::cli
