// The command `holdfast call`, which calls any method of the protocol.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command CallCommand();

}  // namespace holdfast::cli
