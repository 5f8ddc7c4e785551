#include "cli/runs/start_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/result.h"
#include "base/utf8.h"
#include "cli/connect/invocation.h"
#include "cli/connect/server_path.h"
#include "cli/runs/run_session.h"
#include "cli/sandbox/sandbox_choice.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/terminal/screen.h"
#include "client/process.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/run.h"

namespace holdfast::cli {
namespace {

// The variables of an environment, each name once.
using Variables = std::map<std::string, std::string, std::less<>>;

// The URL of a server has a secret, by which a command could run others without a sandbox, and the file has a token.
constexpr std::array kServerVariables = {"HOLDFAST_SERVER", "HOLDFAST_TOKEN_FILE"};

// The words in the names of variables that usually are credentials. A server adds all but the last one to the patterns
// that it is given.
constexpr std::array<std::string_view, 4> kSecretWords = {"KEY", "SECRET", "TOKEN", "PASSWORD"};
constexpr char kPatternOfOurs[] = "*PASSWORD*";

bool LooksLikeASecret(std::string_view name) {
  return std::ranges::any_of(kSecretWords, [name](std::string_view word) {
    return !std::ranges::search(name, word, [](char a, char b) { return AsciiLower(a) == AsciiLower(b); }).empty();
  });
}

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

// What a command gets of an environment.
struct Passed {
  bool server_variables = true;
  bool secrets = true;
};

// Returns the policy by which a server that is not on this machine makes the environment of its own.
wire::EnvPolicy PolicyFor(const Passed& passed) {
  wire::EnvPolicy policy;
  policy.inherit = wire::Inherit::kAll;
  policy.ignore_default_excludes = passed.secrets;
  if (!passed.server_variables) policy.exclude.assign(kServerVariables.begin(), kServerVariables.end());
  if (!passed.secrets) policy.exclude.emplace_back(kPatternOfOurs);
  return policy;
}

// Removes what is not passed. Returns the names of the variables that look like secrets.
std::vector<std::string> Restrict(Variables& variables, const Passed& passed) {
  std::vector<std::string> left_out;
  if (!passed.server_variables) {
    for (const char* name : kServerVariables) variables.erase(name);
  }
  if (passed.secrets) return left_out;
  std::erase_if(variables, [&](const auto& variable) {
    if (!LooksLikeASecret(variable.first)) return false;
    left_out.push_back(variable.first);
    return true;
  });
  return left_out;
}

// Sets the variables of `options`, or the policy by which the server makes them, from the options --env and --env-all
// and from the environment of this program. `options` has its sandbox and its rules already: a command with one of them
// does not get variables whose names look like secrets, unless the user passes them, nor those by which it would find a
// server. HOLDFAST_RUN is the name of the run, which a prompt can show. Returns the names of the variables of this
// program that were left out because of their names.
Result<std::vector<std::string>> SetEnvironment(const Invocation& invocation, const std::string& run_name,
                                                client::StartOptions& options) {
  const Arguments& arguments = invocation.arguments();
  const bool distrusted = !options.sandbox.empty() || options.exec_policy.has_value();
  const Passed passed{.server_variables = !distrusted, .secrets = !distrusted || arguments.Has("--env-all")};
  Variables variables;
  std::vector<std::string> left_out;
  if (invocation.server().is_local()) {
    variables = OwnEnvironment();
    left_out = Restrict(variables, passed);
  } else {
    options.env_policy = PolicyFor(passed);
    const auto term = EnvironmentVariable("TERM");
    if (term && options.terminal) variables["TERM"] = *term;
  }
  variables["HOLDFAST_RUN"] = run_name;
  for (const std::string& text : arguments.Values("--env")) TRY_VOID(AddVariable(text, variables));
  std::erase_if(left_out, [&](const std::string& name) { return variables.contains(name); });
  options.env.assign(variables.begin(), variables.end());
  return left_out;
}

client::TerminalSize SizeOfTerminal() {
  const auto size = WindowSizeOf(STDIN_FILENO).value_or(sys::WindowSize());
  return {.rows = size.rows, .cols = size.cols};
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

void SayWhatIsLeftOut(const Invocation& invocation, const std::vector<std::string>& names) {
  if (names.empty()) return;
  (void)invocation.Complain(
      fmt::format("variables whose names look like secrets are left out: {}; pass one with "
                  "-e NAME, or all of them with --env-all",
                  fmt::join(names, ", ")));
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

Result<client::StartOptions> StartOptionsFrom(const Invocation& invocation, const std::string& run_name,
                                              const client::ExecServerClient& client) {
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
  TRY(const auto left_out, SetEnvironment(invocation, run_name, options));
  SayWhatIsLeftOut(invocation, left_out);
  return options;
}

}  // namespace holdfast::cli
