// The command `holdfast exec-server forward`, which offers an exec-server that runs already to the clients of a
// rendezvous.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command ForwardCommand();

}  // namespace holdfast::cli
