// The table of all commands of `holdfast`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/command.h"
#include "cli/table/command_table.h"

namespace holdfast::cli {

const CommandTable& Table();
inline std::span<const Command> Commands() { return Table().all(); }

// Returns the words of the command line of a program that was called as `called_as`, without its name. Callers of
// codex-exec-mcp-server call `holdfast` so, by a link, and mean the command mcp-server.
std::vector<std::string> WordsOf(std::string_view called_as, std::vector<std::string> words);

}  // namespace holdfast::cli
