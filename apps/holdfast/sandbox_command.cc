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

struct SandboxCommand::Words {
  bool read_only = false, workspace_write = false, network = false, explain = false;
  bool legacy_landlock = false, landlock_only = false;
  sandbox::LegacyLandlock unless_set;
  std::string profile, config, directory;
  std::vector<std::string> writable, denied, settings, command;
};

namespace {

constexpr std::string_view kProgram = "holdfast";  // messages begin with it

}  // namespace

SandboxCommand::SandboxCommand(CLI::App& app, LegacyLandlock unless_set) : words_(std::make_unique<Words>()) {
  words_->unless_set = unless_set;
  auto* base = app.add_option_group("policy");
  base->add_flag("--read-only", words_->read_only, "read everything, write nothing; the default");
  base->add_flag("--workspace-write", words_->workspace_write, "write the directory, /tmp and $TMPDIR");
  base->add_option("--profile", words_->profile, "a profile of --config, or read-only, workspace-write");
  base->require_option(0, 1);
  app.add_option("--config", words_->config, "TOML file with [permissions.NAME] tables");
  app.add_option("-C", words_->directory, "where the command runs, and what the workspace is; default: here");
  // One value each: an option that takes more would go on behind `--`, and take the command's words for flags.
  app.add_option("-w", words_->writable, "one more place to write; a relative one is below -C")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option(
         "--deny", words_->denied,
         "what may not even be read: a path, or a pattern if it has one of *?[]{}\\; a relative one is below -C")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--network", words_->network, "leave the network as it is");
  app.add_flag("--allow-landlock-only", words_->landlock_only, "do with Landlock where bubblewrap does not work");
  app.add_flag("--use-legacy-landlock", words_->legacy_landlock,
               "Landlock instead of bubblewrap; refuses a policy that needs mounts");
  app.add_option("-c", words_->settings, "use_legacy_landlock=true: the same, but such a policy stays with bubblewrap")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--explain", words_->explain, "print what would be enforced, and run nothing");
  app.add_option("command", words_->command, "what to run")->type_name("COMMAND");
}

SandboxCommand::~SandboxCommand() = default;

namespace {

Result<sandbox::Policy> BasePolicy(bool workspace_write, const std::string& name, const std::string& config) {
  if (name.empty()) return workspace_write ? sandbox::WorkspaceWrite() : sandbox::ReadOnly();
  if (!config.empty()) return sandbox::LoadProfile(config, name);
  if (auto policy = sandbox::BuiltinPolicy(name)) return *std::move(policy);
  return Fail(ErrorKind::kNotFound, "no profile is called " + name + "; --config names a file of them");
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

// A relative pattern is below the project, which is `directory`.
Result<sandbox::Where> WhereDenied(const std::string& directory, const std::string& text) {
  if (sandbox::HasGlobCharacters(text)) return sandbox::ParsePattern(text);
  return PathBelow(directory, text);
}

// The helper is told of the policy in JSON, which has paths as URIs but patterns as they are: one with other bytes
// would deny something else there.
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

// The flag counts more than `-c`, and that more than the file.
Result<LegacyLandlock> SandboxCommand::ChosenLandlock() const {
  LegacyLandlock chosen = words_->unless_set;
  if (!words_->config.empty()) {
    TRY(const sandbox::Features features, sandbox::LoadFeatures(words_->config));
    if (features.use_legacy_landlock) chosen = LegacyLandlock::kWhereItFits;
  }
  for (const std::string& setting : words_->settings) {
    TRY(chosen, sandbox::ParseSetting(setting));
  }
  return words_->legacy_landlock ? LegacyLandlock::kRequired : chosen;
}

Result<sandbox::SandboxedCommand> SandboxCommand::MakeCommand() const {
  TRY(sandbox::Policy policy, BasePolicy(words_->workspace_write, words_->profile, words_->config));
  TRY(const LegacyLandlock legacy_landlock, ChosenLandlock());
  TRY(const std::string directory, Absolute(words_->directory));
  CHECK(policy.files);  // a rule without a place to stand in would not be enforced
  for (const std::string& text : words_->writable) {
    auto path = PathBelow(directory, text);
    if (!path) return BadValue("-w", text, path.error());
    policy.files->entries.push_back({*std::move(path), sandbox::Access::kWrite});
  }
  for (const std::string& text : words_->denied) {
    auto where = WhereDenied(directory, text);
    if (!where) return BadValue("--deny", text, where.error());
    policy.files->entries.push_back({*std::move(where), sandbox::Access::kDeny});
  }
  TRY_VOID(CheckPatterns(*policy.files));
  if (words_->network) policy.network = sandbox::Network::kEnabled;
  sandbox::SandboxedCommand command{
      .profile = sandbox::ProfileText({.type = sandbox::ProfileType::kManaged, .policy = std::move(policy)}),
      .policy_cwd = directory,
      .legacy_landlock = legacy_landlock,
      .landlock_only = words_->landlock_only};
  if (!words_->command.empty()) command.command = process::MakeCommand({.words = words_->command}, std::nullopt);
  return command;
}

int SandboxCommand::Run() const {
  auto command = MakeCommand();
  if (!command) return EndWith({sandbox::kBadUsage, command.error().message});
  if (words_->explain) {
    const auto text = sandbox::Explain(*command);
    if (!text) return EndWith({sandbox::kCannotEnforce, text.error().message});
    (void)std::fputs(text->c_str(), stdout);  // a closed stdout is the caller's wish
    return 0;
  }
  if (words_->command.empty()) return EndWith({sandbox::kBadUsage, "no command to run"});
  return EndWith(sandbox::BecomeHelper(*std::move(command), kProgram));
}

}  // namespace holdfast
