#include "sandbox_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/result.h"
#include "base/utf8.h"
#include "process/command/command.h"
#include "sandbox/flags.h"
#include "sandbox/launch/become_helper.h"
#include "sandbox/outcome.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/glob_parse.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_file.h"
#include "sandbox/run.h"

namespace holdfast {

using sandbox::LegacyLandlock;

struct SandboxCommand::Options {
  bool read_only = false, workspace_write = false, network = false, explain = false;
  bool legacy_landlock = false, landlock_only = false;
  sandbox::LegacyLandlock default_landlock;
  std::string profile, config, directory;
  std::vector<std::string> writable, denied, settings, command;
};

namespace {

constexpr std::string_view kProgram = "holdfast";  // the beginning of every message

}  // namespace

SandboxCommand::SandboxCommand(CLI::App& app, LegacyLandlock default_landlock) : options_(std::make_unique<Options>()) {
  options_->default_landlock = default_landlock;
  auto* base = app.add_option_group("policy");
  base->add_flag("--read-only", options_->read_only, "the command may read everything and write nothing (default)");
  base->add_flag("--workspace-write", options_->workspace_write,
                 "the command may also write the workspace, /tmp and $TMPDIR");
  base->add_option("--profile", options_->profile,
                   "name of a profile in the --config file; without --config: read-only or workspace-write");
  base->require_option(0, 1);
  app.add_option("--config", options_->config, "TOML file with profiles, as [permissions.NAME] tables");
  app.add_option("-C", options_->directory,
                 "directory where the command runs, and which is its workspace (default: the current one)");
  // -w and --deny take one value each. An option that took several would go on behind `--`, and read the arguments of
  // the command as its values.
  app.add_option("-w", options_->writable, "another path that the command may write; a relative one is below -C")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--deny", options_->denied,
                 "a path that the command may not even read, or a pattern if it has one of *?[]{}\\; a relative one is "
                 "below -C")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--network", options_->network, "the command may use the network of the host");
  app.add_flag("--allow-landlock-only", options_->landlock_only,
               "use Landlock alone if bubblewrap does not work here and the policy allows it");
  app.add_flag("--use-legacy-landlock", options_->legacy_landlock,
               "use Landlock instead of bubblewrap; a policy that needs mounts is refused");
  app.add_option("-c", options_->settings,
                 "use_legacy_landlock=true: use Landlock, but bubblewrap for a policy that needs mounts")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--explain", options_->explain, "print what would be enforced, and run nothing");
  app.add_option("command", options_->command, "the program to run, and its arguments")->type_name("COMMAND");
}

SandboxCommand::~SandboxCommand() = default;

namespace {

Result<sandbox::Policy> BasePolicy(bool workspace_write, const std::string& name, const std::string& config) {
  if (name.empty()) return workspace_write ? sandbox::WorkspaceWrite() : sandbox::ReadOnly();
  if (!config.empty()) return sandbox::LoadProfile(config, name);
  if (auto policy = sandbox::BuiltinPolicy(name)) return *std::move(policy);
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

}  // namespace

// Returns the choice of the flag, else that of `-c`, else that of the file, else the default.
Result<LegacyLandlock> SandboxCommand::ChosenLandlock() const {
  LegacyLandlock chosen = options_->default_landlock;
  if (!options_->config.empty()) {
    TRY(const sandbox::Features features, sandbox::LoadFeatures(options_->config));
    if (features.use_legacy_landlock) chosen = LegacyLandlock::kWhereItFits;
  }
  for (const std::string& setting : options_->settings) {
    TRY(chosen, sandbox::ParseSetting(setting));
  }
  return options_->legacy_landlock ? LegacyLandlock::kRequired : chosen;
}

Result<sandbox::SandboxedCommand> SandboxCommand::MakeCommand() const {
  TRY(sandbox::Policy policy, BasePolicy(options_->workspace_write, options_->profile, options_->config));
  TRY(const LegacyLandlock legacy_landlock, ChosenLandlock());
  TRY(const std::string directory, Absolute(options_->directory));
  CHECK(policy.files);  // without it, the rules of -w and --deny would be lost and not enforced
  for (const std::string& text : options_->writable) {
    auto path = PathBelow(directory, text);
    if (!path) return BadValue("-w", text, path.error());
    policy.files->entries.push_back({*std::move(path), sandbox::Access::kWrite});
  }
  for (const std::string& text : options_->denied) {
    auto where = WhereDenied(directory, text);
    if (!where) return BadValue("--deny", text, where.error());
    policy.files->entries.push_back({*std::move(where), sandbox::Access::kDeny});
  }
  TRY_VOID(CheckPatterns(*policy.files));
  if (options_->network) policy.network = sandbox::Network::kEnabled;
  sandbox::SandboxedCommand command{
      .profile = sandbox::ProfileText({.type = sandbox::ProfileType::kManaged, .policy = std::move(policy)}),
      .policy_cwd = directory,
      .legacy_landlock = legacy_landlock,
      .landlock_only = options_->landlock_only};
  if (!options_->command.empty()) command.command = process::MakeCommand({.words = options_->command}, std::nullopt);
  return command;
}

int SandboxCommand::Run() const {
  auto command = MakeCommand();
  if (!command) return EndWith({sandbox::kBadUsage, command.error().message});
  if (options_->explain) {
    const auto text = sandbox::Explain(*command);
    if (!text) return EndWith({sandbox::kCannotEnforce, text.error().message});
    (void)std::fputs(text->c_str(), stdout);  // a caller that has closed standard output does not want it
    return 0;
  }
  if (options_->command.empty()) return EndWith({sandbox::kBadUsage, "no command to run; name it after --"});
  return EndWith(sandbox::BecomeHelper(*std::move(command), kProgram));
}

}  // namespace holdfast
