#include "cli/runs/start_options.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/utf8.h"
#include "cli/connect/server_path.h"
#include "cli/runs/run_session.h"
#include "cli/terminal/screen.h"
#include "wire/encode.h"
#include "wire/json.h"

namespace holdfast::cli {
namespace {

struct NamedPolicy {
  std::string type;

  void Fields(auto& f) { f.Required("type", type); }
};

struct NamedSandbox {
  NamedPolicy policy;
  std::string cwd;

  void Fields(auto& f) {
    f.Required("sandboxPolicy", policy);
    f.Required("cwd", cwd);
  }
};

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

// Returns the JSON as one line, because on some connections a newline ends a message. The strings of a valid JSON text
// have no line breaks in them, so each one stands between two values.
Result<std::string> SandboxOnOneLine(std::string json, const std::string& path) {
  wire::Document document;
  if (const auto parsed = document.Parse(json); !parsed || !parsed->is_object()) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("--sandbox: {}: {}", path, parsed ? "not a JSON object" : parsed.error().message));
  }
  std::ranges::replace_if(json, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return json;
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

}  // namespace

Result<std::string> SandboxText(const std::string& profile, const std::string& cwd) {
  if (profile == "none") return "";
  if (profile == "read-only" || profile == "workspace-write") {
    return wire::Encode(NamedSandbox{.policy = {profile}, .cwd = FileUri(cwd)});
  }
  std::ifstream file(profile, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || text.empty()) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("--sandbox: \"{}\" is neither read-only, workspace-write nor none, nor a file that can be "
                            "read",
                            profile));
  }
  return SandboxOnOneLine(std::move(text), profile);
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
  TRY(options.sandbox, SandboxText(arguments.ValueOr("--sandbox", "none"), options.cwd));
  TRY(options.exec_policy, ExecPolicyFrom(arguments, directory));
  TRY_VOID(SetEnvironment(invocation, options));
  return options;
}

}  // namespace holdfast::cli
