#include "cli/runs/start_options.h"

#include <unistd.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/utf8.h"
#include "cli/connect/server_path.h"
#include "cli/runs/run_session.h"
#include "cli/sandbox/sandbox_choice.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/terminal/screen.h"
#include "sandbox/helper_command/sandbox_spec.h"
#include "sandbox/run.h"

namespace holdfast::cli {
namespace {

// The variables of an environment, each name once.
using Variables = std::map<std::string, std::string, std::less<>>;

// A variable that is not UTF-8 cannot be part of a message, and is left out.
Variables OwnEnvironment() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || !IsUtf8(text)) continue;
    variables.insert_or_assign(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return variables;
}

// Adds NAME=VALUE, or the own value of NAME.
Result<> AddVariable(const std::string& text, Variables& variables) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return Fail(ErrorKind::kInvalidParams, fmt::format("--env: \"{}\" is not NAME=VALUE", text));
  const auto value = equals == std::string::npos ? EnvironmentVariable(name.c_str()) : text.substr(equals + 1);
  if (value) variables.insert_or_assign(name, *value);
  return {};
}

client::TerminalSize SizeOfTerminal() {
  const auto size = WindowSizeOf(STDIN_FILENO).value_or(sys::WindowSize());
  return {.rows = size.rows, .cols = size.cols};
}

// A sandboxed or supervised command does not get the URL of a server, whose secret would let it run commands without
// the sandbox, nor the path of the server's token, nor, where it has the environment of the server, variables whose
// names look like secrets, unless the caller names them.
Result<> SetEnvironment(const Invocation& invocation, client::StartOptions& options) {
  const bool sandboxed = !options.sandbox.empty() || options.exec_policy.has_value();
  Variables variables;
  if (invocation.server().is_local()) {
    variables = OwnEnvironment();
    if (sandboxed) {
      variables.erase("HOLDFAST_SERVER");
      variables.erase("HOLDFAST_TOKEN_FILE");
    }
  } else {
    options.env_policy.emplace();
    options.env_policy->inherit = wire::Inherit::kAll;
    options.env_policy->ignore_default_excludes = !sandboxed;
    if (sandboxed) options.env_policy->exclude = {"HOLDFAST_SERVER", "HOLDFAST_TOKEN_FILE"};
    const auto term = EnvironmentVariable("TERM");
    if (term && options.terminal) variables["TERM"] = *term;
  }
  for (const std::string& text : invocation.arguments().Values("--env")) TRY_VOID(AddVariable(text, variables));
  options.env.assign(variables.begin(), variables.end());
  return {};
}

Result<std::optional<wire::ExecPolicy>> ExecPolicyFrom(const Arguments& arguments, const std::string& directory) {
  if (!arguments.Has("--rules")) {
    if (arguments.Has("--strict")) return Fail(ErrorKind::kInvalidParams, "--strict needs --rules");
    return std::nullopt;
  }
  wire::ExecPolicy policy{.strict = arguments.Has("--strict")};
  for (const std::string& file : arguments.Values("--rules")) {
    policy.rules.push_back(FileUri(ServerPath(file, directory)));
  }
  return policy;
}

// Returns the directories of the server's machine. One that does not describe its machine has no home for `~`.
Result<SandboxPlaces> PlacesOf(const Invocation& invocation, const client::ExecServerClient& client,
                               const std::string& cwd) {
  if (invocation.server().is_local()) return OwnPlaces(cwd);
  SandboxPlaces places{.directory = cwd, .home = ""};
  const auto& environment = client.environment();
  if (!environment || environment->user_home_dir.empty()) return places;
  TRY(places.home, ParsePath(environment->user_home_dir));
  return places;
}

// Returns the JSON of the sandbox; empty if there is none.
Result<std::string> SandboxTextFrom(const Invocation& invocation, const client::ExecServerClient& client,
                                    const std::string& cwd) {
  if (!HasSandboxOptions(invocation.arguments())) return "";
  TRY(const SandboxPlaces places, PlacesOf(invocation, client, cwd));
  TRY(SandboxChoice choice, SandboxFrom(invocation.arguments(), places));
  const sandbox::SandboxSpec spec = SpecOfRequest(std::move(choice));
  return spec.restricts() ? sandbox::SandboxText(spec) : "";
}

}  // namespace

Result<std::string> ExplainSandbox(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments();
  if (!HasSandboxOptions(arguments)) return "no sandbox\n";
  if (!invocation.server().is_local()) {
    return Fail(ErrorKind::kInvalidParams,
                "--explain shows what this machine would enforce, and the server may be on another one; use `holdfast "
                "sandbox --explain` there");
  }
  TRY(const SandboxPlaces here, OwnPlaces());
  TRY(const SandboxPlaces places, OwnPlaces(ServerPath(arguments.ValueOr("--cwd", "."), here.directory)));
  TRY(SandboxChoice choice, SandboxFrom(arguments, places));
  return sandbox::Explain(CommandIn(SpecOfRequest(std::move(choice)), places.directory));
}

Result<client::StartOptions> StartOptionsFrom(const Invocation& invocation, const client::ExecServerClient& client) {
  const Arguments& arguments = invocation.arguments();
  TRY(const std::string directory, ServerDirectory(invocation, client));
  client::StartOptions options;
  options.argv = arguments.Values("COMMAND");
  options.cwd = ServerPath(arguments.ValueOr("--cwd", "."), directory);
  options.process_id = kMainProcess;
  if (arguments.Has("--tty")) options.terminal = SizeOfTerminal();
  const bool closed = arguments.Has("--detach") && !arguments.Has("--stdin");
  options.input = closed ? client::Stdin::kClosed : client::Stdin::kOpen;
  TRY(options.sandbox, SandboxTextFrom(invocation, client, options.cwd));
  TRY(options.exec_policy, ExecPolicyFrom(arguments, directory));
  TRY_VOID(SetEnvironment(invocation, options));
  return options;
}

}  // namespace holdfast::cli
