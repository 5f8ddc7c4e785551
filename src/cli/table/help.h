// The help texts that `holdfast --help` and `holdfast COMMAND --help` print.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/table/command.h"

namespace holdfast::cli {

// Returns the list of all commands.
std::string HelpOf(std::span<const Command> table);
std::string HelpOf(const Command& command);
// Returns the list of the commands whose names have `family` as their first word; empty if there is none.
std::string FamilyHelp(std::span<const Command> table, std::string_view family);

std::string_view TitleOf(Topic topic);

}  // namespace holdfast::cli
