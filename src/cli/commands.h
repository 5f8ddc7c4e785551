// The table of all commands of `holdfast`.
#pragma once

#include <span>

#include "cli/table/command.h"

namespace holdfast::cli {

std::span<const Command> Commands();

}  // namespace holdfast::cli
