// Scripts that let a shell complete the command lines of `holdfast`: the names of commands, their options, and the
// values of options and arguments.
#pragma once

#include <span>
#include <string>

#include "cli/table/command.h"

namespace holdfast::cli {

std::string BashCompletion(std::span<const Command> table);
std::string ZshCompletion(std::span<const Command> table);
std::string FishCompletion(std::span<const Command> table);

}  // namespace holdfast::cli
