// The table of all commands of `holdfast`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/command.h"

namespace holdfast::cli {

std::span<const Command> Commands();

// Returns the words of the command line of a program that was called as `called_as`, without its name. Callers of
// codex-exec-mcp-server call `holdfast` so, by a link, and mean the command mcp-server.
std::vector<std::string> WordsOf(std::string_view called_as, std::vector<std::string> words);

}  // namespace holdfast::cli
