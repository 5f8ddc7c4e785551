// The tool `shell`: its description for clients, the reading of its arguments, and the command that a call runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "mcp/messages/tool_messages.h"
#include "mcp/sandbox_state.h"
#include "process/command/command.h"
#include "process/command/environment.h"
#include "wire/json.h"

namespace holdfast::mcp {

inline constexpr const char* kShellTool = "shell";

// Returns the entry of tools/list.
wire::RawJson DescribeShellTool();

// Fails with kInvalidParams if an argument is missing, has the wrong type, or cannot be passed to a program.
Result<ShellArguments> DecodeShellArguments(wire::Json arguments);

// Returns the time limit of a call: 10 s unless the client names another one.
std::chrono::milliseconds TimeLimitOf(const ShellArguments& arguments);

// Returns the variables of the server that commands may see. Those that would lead them to a server, or to the
// interception of another one, are left out.
process::Environment EnvironmentOfCommands(process::Environment server);

// Returns the shell with the command as its argument. Unless `login` is false, it is a login shell.
process::Command ShellCommand(const std::string& shell, const ShellArguments& arguments,
                              const process::Environment& environment, const sandbox::SandboxSpec& sandbox);

}  // namespace holdfast::mcp
