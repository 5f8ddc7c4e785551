#include "cli/sandbox/sandbox_choice.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/toml_file.h"
#include "base/utf8.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/glob_parse.h"
#include "sandbox/policy/legacy_policy.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_file.h"
#include "wire/decode.h"
#include "wire/json.h"
#include "wire/sandbox_messages.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kWorkspaceWrite = "workspace-write";

std::unexpected<Error> Refuse(std::string reason) { return Fail(ErrorKind::kInvalidParams, std::move(reason)); }

std::unexpected<Error> BadValue(std::string_view flag, std::string_view text, const Error& error) {
  return Refuse(fmt::format("{} \"{}\": {}", flag, text, error.message));
}

// The sandbox that is named, before -w, --deny and --network change it. Each of the members that the command line does
// not give is empty.
struct Base {
  std::string name = {};     // of --sandbox, --read-only, --workspace-write
  std::string json = {};     // the file of --sandbox
  std::string toml = {};     // the file of --sandbox or --config
  std::string profile = {};  // of --profile
};

Result<Base> BaseOf(const Arguments& arguments) {
  Base base{.name = arguments.ValueOr("--sandbox", ""),
            .toml = arguments.ValueOr("--config", ""),
            .profile = arguments.ValueOr("--profile", "")};
  if (arguments.Has("--read-only")) base.name = "read-only";
  if (arguments.Has("--workspace-write")) base.name = kWorkspaceWrite;
  if (base.name.empty() || base.name == "none" || sandbox::BuiltinPolicy(base.name)) return base;
  if (!base.toml.empty()) {
    return Refuse(
        fmt::format("--sandbox {} and --config {} are two sandboxes; give one of them", base.name, base.toml));
  }
  std::string& file = base.name.ends_with(".toml") ? base.toml : base.json;
  file = std::exchange(base.name, "");
  return base;
}

Result<sandbox::Profile> BuiltinProfile(const std::string& name) {
  if (auto policy = sandbox::BuiltinPolicy(name)) return sandbox::Profile{.policy = *std::move(policy)};
  return Fail(
      ErrorKind::kNotFound,
      "unknown profile " + name + "; use read-only or workspace-write, or name the file of the profile by --config");
}

Result<sandbox::Profile> ProfileOf(const Base& base, const std::optional<sandbox::ProfileFile>& file) {
  if (base.name == "none") return sandbox::Unrestricted();
  if (base.name == kWorkspaceWrite && file) return sandbox::Profile{.policy = file->workspace_write};
  if (!base.name.empty()) return BuiltinProfile(base.name);
  if (!file && !base.profile.empty()) return BuiltinProfile(base.profile);
  if (file && file->chosen) return *file->chosen;
  if (file && !file->undecided.empty()) return Refuse(file->undecided);
  return sandbox::Profile{.policy = sandbox::ReadOnly()};
}

Result<sandbox::SandboxSpec> SpecInJson(const std::string& path, const std::string& directory) {
  const auto text = ReadTomlFile(path);
  if (!text) {
    return Refuse(
        fmt::format("--sandbox: \"{}\" is neither read-only, workspace-write nor none, nor a file that can be "
                    "read: {}",
                    path, text.error().message));
  }
  wire::Document document;
  const auto json = document.Parse(*text);
  if (!json) return Refuse(fmt::format("--sandbox: {}: {}", path, json.error().message));
  if (!json->is_object()) return Refuse(fmt::format("--sandbox: {}: not a JSON object", path));
  const auto decoded = wire::Decode<wire::Sandbox>(*json);
  if (!decoded) return Refuse(fmt::format("--sandbox: {}: {}", path, decoded.error().message));
  auto spec = sandbox::DecodeSandbox(*decoded, directory);
  if (!spec) return Refuse(fmt::format("--sandbox: {}: {}", path, spec.error().message));
  return spec;
}

Result<sandbox::Profile> ProfileInPolicy(const std::string& text) {
  wire::Document document;
  const auto json = document.Parse(text);
  auto profile = json ? sandbox::DecodeLegacyPolicy(*json) : std::unexpected(json.error());
  if (!profile) return Refuse("--sandbox-policy: " + profile.error().message);
  return profile;
}

Result<SandboxChoice> Named(const Arguments& arguments, const SandboxPlaces& places) {
  TRY(const Base base, BaseOf(arguments));
  SandboxChoice choice;
  if (!base.json.empty()) {
    TRY(choice.spec, SpecInJson(base.json, places.directory));
    return choice;
  }
  choice.spec.policy_cwd = places.directory;
  std::optional<sandbox::ProfileFile> file;
  if (!base.toml.empty()) {
    TRY(file, sandbox::LoadProfileFile(base.toml, places.home, base.profile));
    choice.prefers_landlock = file->use_legacy_landlock;
  }
  const auto policy = arguments.Value("--sandbox-policy");
  TRY(choice.spec.profile, policy ? ProfileInPolicy(*policy) : ProfileOf(base, file));
  return choice;
}

Result<sandbox::AbsolutePath> PathBelow(const std::string& directory, const std::string& text) {
  if (text.empty()) return Refuse("is empty");
  return sandbox::ParseAbsolutePath(text.starts_with('/') ? text : directory + "/" + text);
}

// Parses a value of --deny. A relative pattern is below the workspace.
Result<sandbox::Where> WhereDenied(const std::string& directory, const std::string& text) {
  if (sandbox::HasGlobCharacters(text)) return sandbox::ParsePattern(text);
  return PathBelow(directory, text);
}

// Refuses patterns that are not UTF-8. The policy travels as JSON, which has paths as URIs but patterns as they are: a
// pattern with other bytes would deny something else there.
Result<> CheckPatterns(const sandbox::Policy::Files& files) {
  for (const sandbox::Entry& entry : files.entries) {
    const auto* pattern = std::get_if<sandbox::Pattern>(&entry.where);
    if (pattern == nullptr || IsUtf8(pattern->text)) continue;
    return Refuse(fmt::format("the pattern \"{}\" is not UTF-8", pattern->text));
  }
  return {};
}

// Adds the rules of -w and --deny.
Result<> AddRules(const Arguments& arguments, const std::string& directory, sandbox::Policy& policy) {
  const auto writable = arguments.Values("-w"), denied = arguments.Values("--deny");
  if (!policy.files) {
    if (writable.empty() && denied.empty()) return {};
    return Refuse("-w and --deny need a sandbox that restricts files, such as --read-only");
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

}  // namespace

Result<SandboxPlaces> OwnPlaces(const std::string& directory) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(directory.empty() ? "." : directory, error);
  if (error) return FailErrno("getcwd", directory, error.value());
  std::string normal = absolute.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return SandboxPlaces{.directory = std::move(normal), .home = EnvironmentVariable("HOME").value_or("")};
}

Result<SandboxChoice> SandboxFrom(const Arguments& arguments, const SandboxPlaces& places) {
  auto choice = Named(arguments, places);
  if (!choice) return Refuse(std::move(choice).error().message);
  sandbox::Policy& policy = choice->spec.profile.policy;
  const auto added = AddRules(arguments, places.directory, policy);
  if (!added) return Refuse(added.error().message);
  if (arguments.Has("--network")) policy.network = sandbox::Network::kEnabled;
  return choice;
}

sandbox::SandboxSpec SpecOfRequest(SandboxChoice choice) {
  choice.spec.legacy_landlock |= choice.prefers_landlock && choice.spec.profile.policy == sandbox::ReadOnly();
  return std::move(choice.spec);
}

sandbox::SandboxedCommand CommandIn(const sandbox::SandboxSpec& spec, const std::string& directory) {
  return {.command = {.cwd = directory},
          .sandbox = spec,
          .backend = spec.legacy_landlock ? sandbox::Backend::kLandlock : sandbox::Backend::kAuto};
}

}  // namespace holdfast::cli
