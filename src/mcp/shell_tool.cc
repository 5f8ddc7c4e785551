#include "mcp/shell_tool.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "escalate/messages/messages.h"
#include "wire/decode.h"

namespace holdfast::mcp {
namespace {

constexpr uint64_t kDefaultTimeoutMs = 10'000;
constexpr uint64_t kLongestTimeoutMs = 1000ull * 60 * 60 * 24 * 365;

constexpr char kDescription[] =
    R"({"name":"shell",)"
    R"("description":"Runs a shell command and returns its output. The workdir MUST be an absolute path.",)"
    R"("inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"ExecParams","type":"object",)"
    R"("properties":{)"
    R"("command":{"description":"The text that the shell executes.","type":"string"},)"
    R"("workdir":{"description":"The directory in which the command runs, as an absolute path.","type":"string"},)"
    R"("timeout_ms":{"description":"The time limit in milliseconds: 10000 unless it is given.","type":"integer",)"
    R"("format":"uint64","minimum":0,"nullable":true},)"
    R"("login":{"description":"Whether the shell is a login shell (-lc instead of -c): true unless it is given.",)"
    R"("type":"boolean","nullable":true}},)"
    R"("required":["command","workdir"]},)"
    R"("outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"ExecResult","type":"object",)"
    R"("properties":{)"
    R"("exit_code":{"description":"The exit code of the shell, or 128 and the number of the signal that ended it.",)"
    R"("type":"integer"},)"
    R"("output":{"description":"Standard output, and then standard error.","type":"string"},)"
    R"("duration":{"description":"The time from the request to the end.","type":"object","properties":{)"
    R"("secs":{"type":"integer","minimum":0},"nanos":{"type":"integer","minimum":0}},"required":["secs","nanos"]},)"
    R"("timed_out":{"description":"Whether the time limit ended the command.","type":"boolean"}},)"
    R"("required":["exit_code","output","duration","timed_out"]},)"
    R"("annotations":{"title":"Shell","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,)"
    R"("openWorldHint":true}})";

// The URL of a server may contain its secret, and the file its token.
constexpr std::string_view kServerVariables[] = {"HOLDFAST_SERVER", "HOLDFAST_TOKEN_FILE"};

// A command gets none of the variables of the wrapper that this server has inherited, in case that it was itself
// started by a patched shell.
bool IsWithheld(std::string_view name) {
  const auto is_in = [name](const auto& names) { return std::ranges::find(names, name) != std::ranges::end(names); };
  return is_in(kServerVariables) || is_in(escalate::kWrapperVariables);
}

constexpr char kNetworkDisabled[] = "CODEX_SANDBOX_NETWORK_DISABLED";

Result<> CheckText(std::string_view name, const std::string& text) {
  if (text.find('\0') == std::string::npos) return {};
  return Fail(ErrorKind::kInvalidParams, fmt::format("{}: contains a NUL character", name));
}

}  // namespace

wire::RawJson DescribeShellTool() { return {kDescription}; }

Result<ShellArguments> DecodeShellArguments(wire::Json json) {
  TRY(ShellArguments arguments, wire::Decode<ShellArguments>(json, "arguments"));
  TRY_VOID(CheckText("command", arguments.command));
  TRY_VOID(CheckText("workdir", arguments.workdir));
  if (!arguments.workdir.starts_with('/')) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("workdir: \"{}\" is not an absolute path", arguments.workdir));
  }
  return arguments;
}

std::chrono::milliseconds TimeLimitOf(const ShellArguments& arguments) {
  return std::chrono::milliseconds(std::min(arguments.timeout_ms.value_or(kDefaultTimeoutMs), kLongestTimeoutMs));
}

process::Environment EnvironmentOfCommands(process::Environment server) {
  std::erase_if(server, [](const auto& variable) { return IsWithheld(variable.first); });
  return server;
}

process::Command ShellCommand(const std::string& shell, const ShellArguments& arguments,
                              const process::Environment& environment, const sandbox::SandboxSpec& sandbox) {
  process::Environment overlay;
  if (sandbox.profile.policy.network == sandbox::Network::kRestricted) overlay.emplace_back(kNetworkDisabled, "1");
  return {.program = shell,
          .argv = {shell, arguments.login.value_or(true) ? "-lc" : "-c", arguments.command},
          .env = process::BuildEnvironment({.ignore_default_excludes = true}, environment, overlay),
          .cwd = arguments.workdir};
}

}  // namespace holdfast::mcp
