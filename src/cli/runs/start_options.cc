#include "cli/runs/start_options.h"

#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file_uri.h"
#include "cli/connect/server_path.h"
#include "cli/runs/run_environment.h"
#include "cli/runs/run_session.h"
#include "cli/sandbox/sandbox_choice.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/terminal/screen.h"
#include "sandbox/helper_command/sandbox_spec.h"
#include "sandbox/run.h"

namespace holdfast::cli {
namespace {

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
