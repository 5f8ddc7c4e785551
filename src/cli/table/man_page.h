// The manual as pages for `man`, in the language of roff.
#pragma once

#include <span>
#include <string>

#include "cli/table/command.h"

namespace holdfast::cli {

// Returns the name of a page without its section: "holdfast-run", "holdfast-debug-landlock".
std::string ManPageName(const Command& command);

std::string ManPage(const Command& command);
// Returns the page `holdfast`, which lists all commands.
std::string ManPage(std::span<const Command> table);

}  // namespace holdfast::cli
