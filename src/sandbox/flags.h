// The helper's flags are those that callers of codex-linux-sandbox use, and a few of our own. One table has a reader
// and a writer for each flag, so that reading a command line which holdfast has written gives the same value again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Reads a command line without the program's name. A kInvalidParams error tells what is wrong with it. Descriptors that
// are for the helper itself become close-on-exec. A program without a slash is looked up in the PATH of this process.
Result<SandboxedCommand> ParseFlags(std::span<const std::string_view> arguments);

// Writes the command line, without the program's name, that ParseFlags reads as `command`.
std::vector<std::string> BuildFlags(const SandboxedCommand& command);

// Reads KEY=VALUE, the value of the flag `-c`. The only setting is use_legacy_landlock; returns whether it is true.
Result<bool> ParseSetting(std::string_view setting);

// Reads the value of the flag --backend.
Result<Backend> ParseBackend(std::string_view name);

// Reads a descriptor's number, which has to be the whole text.
Result<int> ParseDescriptor(std::string_view text);

// Returns the descriptor that --report-fd names, even when the rest of the command line is wrong.
std::optional<int> FindReportFd(std::span<const std::string_view> arguments);

// Returns whether a flag before the command asks for the help text, even when the rest of the command line is wrong.
bool AsksForHelp(std::span<const std::string_view> arguments);

// Returns the help text: a line about the usage of the program that was called by this name, and one line per flag.
std::string Usage(std::string_view called_as);

}  // namespace holdfast::sandbox
