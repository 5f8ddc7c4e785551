#include "cli/local/sandbox_command.h"

#include <cstdio>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/result.h"
#include "base/utf8.h"
#include "cli/table/arguments.h"
#include "process/command/command.h"
#include "sandbox/flags.h"
#include "sandbox/helper_command/become_helper.h"
#include "sandbox/outcome.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/glob_parse.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_file.h"
#include "sandbox/run.h"

namespace holdfast::cli {

namespace {

constexpr std::string_view kProgram = "holdfast";  // the beginning of every message

std::vector<Option> SandboxOptions() {
  return {
      {.flag = "--read-only", .help = "the command may read everything and write nothing (default)", .group = "policy"},
      {.flag = "--workspace-write",
       .help = "the command may also write the workspace, /tmp and $TMPDIR",
       .group = "policy"},
      {.flag = "--profile",
       .value = "NAME",
       .help = "name of a profile in the --config file; without --config: read-only or workspace-write",
       .group = "policy"},
      {.flag = "--config",
       .value = "FILE",
       .help = "TOML file with profiles, as [permissions.NAME] tables, or with a sandbox_mode; without another option "
               "of these, the one that the file chooses itself",
       .completes = Completes::kFile},
      {.letter = "-C",
       .value = "DIR",
       .help = "directory where the command runs, and which is its workspace (default: the current one)",
       .completes = Completes::kDirectory},
      {.letter = "-w",
       .value = "PATH",
       .help = "another path that the command may write; a relative one is below -C",
       .completes = Completes::kFile,
       .times = Option::Times::kMany},
      {.flag = "--deny",
       .value = "PATH",
       .help = "a path that the command may not even read, or a pattern if it has one of *?[]{}\\; a relative one is "
               "below -C",
       .completes = Completes::kFile,
       .times = Option::Times::kMany},
      {.flag = "--network", .help = "the command may use the network of the host"},
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
      {.flag = "--explain", .help = "print what would be enforced, and run nothing"},
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

Result<std::optional<sandbox::ProfileFile>> LoadConfig(const Arguments& arguments) {
  const auto path = arguments.Value("--config");
  if (!path) return std::nullopt;
  return sandbox::LoadProfileFile(*path, EnvironmentVariable("HOME").value_or(""), arguments.ValueOr("--profile", ""));
}

// Returns what the options choose, else what the file chooses.
Result<sandbox::Profile> BaseProfile(const Arguments& arguments, const std::optional<sandbox::ProfileFile>& file) {
  if (arguments.Has("--read-only")) return sandbox::Profile{.policy = sandbox::ReadOnly()};
  if (arguments.Has("--workspace-write")) {
    return sandbox::Profile{.policy = file ? file->workspace_write : sandbox::WorkspaceWrite()};
  }
  if (file && file->chosen) return *file->chosen;
  if (file && !file->undecided.empty()) return Fail(ErrorKind::kInvalidParams, file->undecided);
  const std::string name = arguments.ValueOr("--profile", "read-only");
  if (auto policy = sandbox::BuiltinPolicy(name)) return sandbox::Profile{.policy = *std::move(policy)};
  return Fail(
      ErrorKind::kNotFound,
      "unknown profile " + name + "; use read-only or workspace-write, or name the file of the profile by --config");
}

int EndWith(sandbox::Failure failure) { return sandbox::Conclude(kProgram, std::unexpected(std::move(failure))); }

Result<std::string> Absolute(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path.empty() ? "." : path, error);
  if (error) return FailErrno("getcwd", path, error.value());
  return absolute.lexically_normal().string();
}

Result<sandbox::AbsolutePath> PathBelow(const std::string& directory, const std::string& text) {
  if (text.empty()) return Fail(ErrorKind::kInvalidParams, "is empty");
  return sandbox::ParseAbsolutePath(text.starts_with('/') ? text : directory + "/" + text);
}

// Parses a value of --deny. A relative pattern is below the project, which is `directory`.
Result<sandbox::Where> WhereDenied(const std::string& directory, const std::string& text) {
  if (sandbox::HasGlobCharacters(text)) return sandbox::ParsePattern(text);
  return PathBelow(directory, text);
}

// Refuses patterns that are not UTF-8. The policy reaches the helper as JSON, which has paths as URIs but patterns as
// they are: a pattern with other bytes would deny something else there.
Result<> CheckPatterns(const sandbox::Policy::Files& files) {
  for (const sandbox::Entry& entry : files.entries) {
    const auto* pattern = std::get_if<sandbox::Pattern>(&entry.where);
    if (pattern == nullptr || IsUtf8(pattern->text)) continue;
    return Fail(ErrorKind::kInvalidParams, fmt::format("the pattern \"{}\" is not UTF-8", pattern->text));
  }
  return {};
}

std::unexpected<Error> BadValue(std::string_view flag, std::string_view text, const Error& error) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("{} \"{}\": {}", flag, text, error.message));
}

// What `auto` means: the setting use_legacy_landlock, whose default a subcommand chooses.
enum class Auto { kNamespaces, kLandlockWhereItFits };

// Returns the setting of `-c`, else that of the file, else the default.
Result<Auto> ChosenAuto(const Arguments& arguments, const std::optional<sandbox::ProfileFile>& file,
                        Auto default_auto) {
  Auto chosen = file && file->use_legacy_landlock ? Auto::kLandlockWhereItFits : default_auto;
  for (const std::string& setting : arguments.Values("-c")) {
    TRY(const bool legacy, sandbox::ParseSetting(setting));
    chosen = legacy ? Auto::kLandlockWhereItFits : Auto::kNamespaces;
  }
  return chosen;
}

Result<sandbox::Backend> ChosenBackend(const Arguments& arguments) {
  const auto name = arguments.Value("--backend");
  if (!arguments.Has("--use-legacy-landlock")) return sandbox::ParseBackend(name.value_or("auto"));
  if (!name || *name == NameOf(sandbox::Backend::kLandlock)) return sandbox::Backend::kLandlock;
  return Fail(ErrorKind::kInvalidParams, fmt::format("--use-legacy-landlock and --backend {} contradict", *name));
}

// Adds the rules of -w and --deny.
Result<> AddRules(const Arguments& arguments, const std::string& directory, sandbox::Policy& policy) {
  const auto writable = arguments.Values("-w"), denied = arguments.Values("--deny");
  if (!policy.files) {
    if (writable.empty() && denied.empty()) return {};
    return Fail(ErrorKind::kInvalidParams, "-w and --deny need a sandbox that restricts files, such as --read-only");
  }
  for (const std::string& text : writable) {
    auto path = PathBelow(directory, text);
    if (!path) return BadValue("-w", text, path.error());
    policy.files->entries.push_back({*std::move(path), sandbox::Access::kWrite});
  }
  for (const std::string& text : denied) {
    auto where = WhereDenied(directory, text);
    if (!where) return BadValue("--deny", text, where.error());
    policy.files->entries.push_back({*std::move(where), sandbox::Access::kDeny});
  }
  return CheckPatterns(*policy.files);
}

Result<sandbox::SandboxedCommand> MakeCommand(const Arguments& arguments, Auto default_auto) {
  TRY(const auto file, LoadConfig(arguments));
  TRY(sandbox::Profile profile, BaseProfile(arguments, file));
  TRY(const sandbox::Backend backend, ChosenBackend(arguments));
  TRY(const Auto chosen_auto, ChosenAuto(arguments, file, default_auto));
  TRY(const std::string directory, Absolute(arguments.ValueOr("-C", ".")));
  TRY_VOID(AddRules(arguments, directory, profile.policy));
  if (arguments.Has("--network")) profile.policy.network = sandbox::Network::kEnabled;
  sandbox::SandboxedCommand command{.profile = sandbox::ProfileText(profile),
                                    .policy_cwd = directory,
                                    .backend = backend,
                                    .prefers_landlock = chosen_auto == Auto::kLandlockWhereItFits,
                                    .landlock_only = arguments.Has("--allow-landlock-only")};
  const std::vector<std::string> words = arguments.Values("COMMAND");
  if (!words.empty()) command.command = process::MakeCommand({.words = words}, std::nullopt);
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
  return EndWith(sandbox::BecomeHelper(*std::move(command), kProgram));
}

Command MakeRow(std::string name, std::string summary, Auto default_auto) {
  return {.name = std::move(name),
          .topic = Topic::kServers,
          .summary = std::move(summary),
          .options = SandboxOptions(),
          .arguments = {{.name = "COMMAND",
                         .help = "the program to run, and its arguments",
                         .count = Argument::Count::kOptionalRest,
                         .completes = Completes::kProgram}},
          .examples = {{"holdfast sandbox -- ls /", "Runs ls, which may read everything and write nothing."},
                       {"holdfast sandbox --workspace-write --deny .env -- make",
                        "Runs make, which may write the current directory but not read the file .env in it."},
                       {"holdfast sandbox --workspace-write --explain", "Shows what would be enforced."}},
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
