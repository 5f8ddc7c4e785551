#include "cli/local/commands.h"

#include <cstdio>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/sandbox/sandbox_choice.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/sandbox/sandbox_warnings.h"
#include "cli/table/arguments.h"
#include "process/command/command.h"
#include "sandbox/backend.h"
#include "sandbox/flags.h"
#include "sandbox/helper_command/become_helper.h"
#include "sandbox/outcome.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/run.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::cli {

namespace {

constexpr std::string_view kProgram = "holdfast";  // the beginning of every message

std::vector<Option> OwnOptions() {
  return {
      {.letter = "-C",
       .value = "DIR",
       .help = "the working directory of the command, which is its workspace (default: the current one)",
       .completes = Completes::kDirectory},
      {.flag = "--backend",
       .value = "NAME",
       .help = "what enforces the policy: native, bubblewrap, landlock (Landlock alone, which refuses a policy that "
               "needs mounts), or auto: native where it works, and otherwise bubblewrap (default)"},
      {.flag = "--allow-landlock-only",
       .help = "use Landlock alone if no other backend works here and the policy allows it"},
      {.flag = "--use-legacy-landlock", .help = "the same as --backend landlock"},
      {.letter = "-c",
       .value = "KEY=VALUE",
       .help = "use_legacy_landlock=true: auto is Landlock alone, except for a policy that needs mounts",
       .times = Option::Times::kMany},
  };
}

std::vector<ExitStatus> SandboxStatuses() {
  return {{"0..255", "the exit status of the command"},
          {"1", "the policy cannot be enforced on this machine"},
          {"2", "the command line or the profile makes no sense"},
          {"126", "the command cannot be executed"},
          {"127", "there is no such command"},
          {"128+N", "the command was ended by signal N"}};
}

int EndWith(sandbox::Failure failure) { return sandbox::Conclude(kProgram, std::unexpected(std::move(failure))); }

// What `auto` means: the setting use_legacy_landlock, whose default a subcommand chooses.
enum class Auto { kNamespaces, kLandlockWhereItFits };

// Returns the setting of `-c`, else that of the TOML file, else the default.
Result<Auto> ChosenAuto(const Arguments& arguments, const SandboxChoice& choice, Auto default_auto) {
  Auto chosen = choice.prefers_landlock ? Auto::kLandlockWhereItFits : default_auto;
  for (const std::string& setting : arguments.Values("-c")) {
    TRY(const bool legacy, sandbox::ParseSetting(setting));
    chosen = legacy ? Auto::kLandlockWhereItFits : Auto::kNamespaces;
  }
  return chosen;
}

// Returns the backend that the options name. The sandbox in a JSON file can insist on Landlock too.
Result<sandbox::Backend> ChosenBackend(const Arguments& arguments, const sandbox::SandboxSpec& spec) {
  const auto name = arguments.Value("--backend");
  const bool legacy = arguments.Has("--use-legacy-landlock") || spec.legacy_landlock;
  if (!legacy) return sandbox::ParseBackend(name.value_or("auto"));
  if (!name || *name == NameOf(sandbox::Backend::kLandlock)) return sandbox::Backend::kLandlock;
  const std::string_view by = spec.legacy_landlock ? "useLegacyLandlock" : "--use-legacy-landlock";
  return Fail(ErrorKind::kInvalidParams, fmt::format("{} and --backend {} contradict", by, *name));
}

Result<sandbox::SandboxedCommand> MakeCommand(const Arguments& arguments, Auto default_auto) {
  TRY(const SandboxPlaces places, OwnPlaces(arguments.ValueOr("-C", ".")));
  TRY(const SandboxChoice choice, SandboxFrom(arguments, places));
  TRY(const Auto chosen_auto, ChosenAuto(arguments, choice, default_auto));
  sandbox::SandboxedCommand command = CommandIn(choice.spec, places.directory);
  TRY(command.backend, ChosenBackend(arguments, choice.spec));
  command.prefers_landlock = chosen_auto == Auto::kLandlockWhereItFits;
  command.landlock_only = arguments.Has("--allow-landlock-only");
  const std::vector<std::string> words = arguments.Values("COMMAND");
  if (words.empty()) return command;
  command.command = process::MakeCommand({.words = words}, std::nullopt);
  command.command.cwd = places.directory;
  return command;
}

int RunSandbox(const Arguments& arguments, Auto default_auto) {
  auto command = MakeCommand(arguments, default_auto);
  if (!command) return EndWith({sandbox::kBadUsage, command.error().message});
  if (arguments.Has("--explain")) {
    const auto text = sandbox::Explain(*command);
    if (!text) return EndWith({sandbox::kCannotEnforce, text.error().message});
    (void)std::fputs(text->c_str(), stdout);  // a caller that has closed standard output does not want it
    return 0;
  }
  if (arguments.Values("COMMAND").empty()) {
    return EndWith({sandbox::kBadUsage, "no command to run; name it after --"});
  }
  PrintSandboxWarningsOnce(kProgram);
  return EndWith(sandbox::BecomeHelper(*std::move(command), kProgram));
}

Command MakeRow(std::string name, std::string summary, Auto default_auto) {
  return {.name = std::move(name),
          .topic = Topic::kServers,
          .summary = std::move(summary),
          .options = WithSandboxOptions(OwnOptions(), "read-only"),
          .arguments = {{.name = "COMMAND",
                         .help = "the program to run, and its arguments",
                         .count = Argument::Count::kOptionalRest,
                         .completes = Completes::kProgram}},
          .examples = WithSandboxExamples(
              {{"holdfast sandbox -- ls /", "Runs ls, which may read everything and write nothing."}},
              "holdfast sandbox", " -- make"),
          .exit_statuses = SandboxStatuses(),
          .run = [default_auto](const Arguments& arguments) { return RunSandbox(arguments, default_auto); }};
}

}  // namespace

Command SandboxCommand() { return MakeRow("sandbox", "Runs one command in a sandbox.", Auto::kNamespaces); }

Command DebugLandlockCommand() {
  return MakeRow("debug landlock",
                 "Runs one command under a policy, like `holdfast sandbox -c use_legacy_landlock=true`.",
                 Auto::kLandlockWhereItFits);
}

}  // namespace holdfast::cli
