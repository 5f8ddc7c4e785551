// The command `holdfast mcp-server`, which gives an MCP client a shell.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command McpServerCommand();

}  // namespace holdfast::cli
