// RunMcpServer is the whole MCP server as one call, for the program `holdfast`.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace holdfast::mcp {

struct McpServerOptions {
  std::string shell = "/bin/bash";                 // absolute
  std::optional<std::string> sandbox_policy = {};  // JSON; without it, read-only
};

// Serves standard input and output on this thread until the input ends, or SIGTERM, SIGINT or SIGHUP arrives; a second
// signal ends the process at once. An error means that nothing was served.
Result<> RunMcpServer(const McpServerOptions& options);

}  // namespace holdfast::mcp
