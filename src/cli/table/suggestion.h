// What a user probably meant by a word that holdfast does not know.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/command.h"

namespace holdfast::cli {

// Returns the known word that differs from `word` by the fewest mistyped letters; empty if none is near.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// Returns what is wrong with the name of a command that does not exist, and which one was probably meant.
std::string UnknownCommandText(std::span<const Command> table, std::string_view name);

// Returns the same for an option of a command, or what the command has instead of it.
std::string UnknownOptionText(const Command& command, std::string_view name);

}  // namespace holdfast::cli
