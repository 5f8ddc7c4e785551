// The helper's flags: those that callers of codex-linux-sandbox write, and a few of our own. One table says of each
// flag how it is read and how it is written, so that a command line which holdfast writes means what it was made of.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Reads a command line without the program's name; kInvalidParams says what is wrong with it. Descriptors of the
// helper's own are marked close-on-exec. A bare name of a program is looked up in the PATH of this process.
Result<SandboxedCommand> ParseFlags(std::span<const std::string_view> words);

// Writes the command line, without the program's name, that ParseFlags reads as `command`.
std::vector<std::string> BuildFlags(const SandboxedCommand& command);

// Reads KEY=VALUE, as `-c` takes it.
Result<LegacyLandlock> ParseSetting(std::string_view setting);

// Reads a descriptor's number, which has to be the whole text.
Result<int> ParseDescriptor(std::string_view text);

// What --report-fd names, whatever else is wrong with the words.
std::optional<int> FindReportFd(std::span<const std::string_view> words);

// One line per flag.
std::string Usage();

}  // namespace holdfast::sandbox
