#include "sandbox/policy/sandbox_spec.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file_uri.h"
#include "base/paths.h"
#include "sandbox/policy/legacy_policy.h"
#include "wire/encode.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxProjectRoots = 256;

Error Within(std::string_view member, const Error& error) {
  return {ErrorKind::kInvalidParams, fmt::format("sandbox.{}: {}", member, error.message)};
}

// AgreedProfile is the profile that the members of a sandbox agree on. Any of them may give it.
class AgreedProfile {
 public:
  Result<> Add(const char* member, Result<Profile> profile) {
    if (!profile) return Refuse(member, profile.error().message);
    if (profile_ && *profile_ != *profile) return Refuse(member, fmt::format("contradicts {}", member_));
    member_ = member;
    profile_ = *std::move(profile);
    return {};
  }

  Result<Profile> Take() && {
    if (!profile_) return Refuse("sandbox.permissions", "is null");
    return *std::move(profile_);
  }

 private:
  static std::unexpected<Error> Refuse(std::string_view member, std::string_view reason) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("{}: {}", member, reason));
  }

  const char* member_ = "";  // the last member that gave the profile
  std::optional<Profile> profile_;
};

// Members that differ are refused, because neither could be enforced without breaking the other.
Result<Profile> DecodeRules(const wire::Sandbox& sandbox) {
  AgreedProfile agreed;
  if (!sandbox.permissions.is_null()) {
    TRY_VOID(agreed.Add("sandbox.permissions", DecodeProfile(sandbox.permissions)));
  }
  if (!sandbox.sandbox_policy.is_null()) {
    TRY_VOID(agreed.Add("sandbox.sandboxPolicy", DecodeLegacyPolicy(sandbox.sandbox_policy)));
  }
  if (!sandbox.bare_policy.is_null()) {
    TRY_VOID(agreed.Add("sandbox as a policy", DecodeLegacyPolicy(sandbox.bare_policy, wire::Sandbox::kMembers)));
  }
  return std::move(agreed).Take();
}

Result<std::vector<std::string>> DecodeRoots(const std::vector<std::string>& texts) {
  if (texts.size() > kMaxProjectRoots) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("sandbox.workspaceRoots: more than {}", kMaxProjectRoots));
  }
  std::vector<std::string> roots;
  for (const std::string& text : texts) {
    auto root = ParsePath(text);
    if (!root) return std::unexpected(Within("workspaceRoots", root.error()));
    roots.push_back(*std::move(root));
  }
  return roots;
}

bool IsOfProject(const Entry& entry) {
  if (const auto* place = std::get_if<Place>(&entry.where)) {
    return place->kind == PlaceKind::kProjectRoots;
  }
  const auto* pattern = std::get_if<Pattern>(&entry.where);
  return pattern != nullptr && !pattern->text.starts_with('/');
}

bool SpeaksOfProject(const Profile& profile) {
  return profile.policy.files && std::ranges::any_of(profile.policy.files->entries, IsOfProject);
}

// Removes the entries about the project, for a project without roots: they apply to no path.
void DropProject(Profile& profile) {
  if (profile.policy.files) std::erase_if(profile.policy.files->entries, IsOfProject);
}

bool NamesPlaces(const wire::Sandbox& sandbox) {
  const auto& context = sandbox.policy_context;
  return sandbox.cwd || sandbox.workspace_roots || (context && (context->cwd || context->workspace_roots));
}

bool IsDotted(std::string_view relative_path) {
  for (const auto name : std::views::split(relative_path, '/')) {
    if (!name.empty() && name.front() != '.') return false;
  }
  return true;
}

// Returns whether the path is directly below a directory of the project. On the way to any other path, a directory may
// be the missing one.
bool IsInProject(std::string_view path, const SandboxSpec& spec) {
  const std::string_view parent = ParentOf(path);
  return parent == spec.policy_cwd || std::ranges::find(spec.project_roots, parent) != spec.project_roots.end();
}

bool MayProtectAnyName(const Entry& entry, const SandboxSpec& spec) {
  if (entry.access == Access::kWrite || entry.if_missing == IfMissing::kSkip) return false;
  if (const auto* place = std::get_if<Place>(&entry.where)) return !IsDotted(place->subpath);
  const auto* path = std::get_if<AbsolutePath>(&entry.where);
  return path != nullptr && path->text != "/" && !(IsInProject(path->text, spec) && IsDotted(NameOf(path->text)));
}

// The members that a client sends.
struct SentSandbox {
  wire::RawJson permissions;
  std::string cwd;
  std::optional<std::vector<std::string>> workspace_roots = {};
  std::optional<bool> use_legacy_landlock = {};
  wire::WindowsSandboxLevel windows_sandbox_level = wire::WindowsSandboxLevel::kDisabled;

  void Fields(auto& f) {
    f.Required("permissions", permissions);
    f.Required("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
    f.Optional("useLegacyLandlock", use_legacy_landlock);
    f.Required("windowsSandboxLevel", windows_sandbox_level);
  }
};

}  // namespace

std::string SandboxText(const SandboxSpec& spec) {
  CHECK(!spec.proxies);
  SentSandbox sent{.permissions = {ProfileText(spec.profile)}, .cwd = FileUri(spec.policy_cwd)};
  for (const std::string& root : spec.project_roots) {
    if (!sent.workspace_roots) sent.workspace_roots.emplace();
    sent.workspace_roots->push_back(FileUri(root));
  }
  if (spec.legacy_landlock) sent.use_legacy_landlock = true;
  return wire::Encode(sent);
}

bool MayProtectAnyName(const SandboxSpec& spec) {
  const auto& files = spec.profile.policy.files;
  return files &&
         std::ranges::any_of(files->entries, [&](const Entry& entry) { return MayProtectAnyName(entry, spec); });
}

Result<SandboxSpec> DecodeSandbox(const wire::Sandbox& sandbox, const std::string& cwd) {
  SandboxSpec spec;
  TRY(spec.profile, DecodeRules(sandbox));
  const wire::PolicyContext context = sandbox.policy_context.value_or(wire::PolicyContext{});
  const auto& cwd_text = context.cwd ? context.cwd : sandbox.cwd;
  auto policy_cwd = ParsePath(cwd_text.value_or(cwd));
  if (!policy_cwd) return std::unexpected(Within("cwd", policy_cwd.error()));
  spec.policy_cwd = *std::move(policy_cwd);
  const auto& roots = context.workspace_roots ? context.workspace_roots : sandbox.workspace_roots;
  if (roots) {
    TRY(spec.project_roots, DecodeRoots(*roots));
  }
  if (roots && roots->empty()) DropProject(spec.profile);
  spec.legacy_landlock = sandbox.use_legacy_landlock.value_or(false);
  return spec;
}

Result<std::optional<SandboxSpec>> DecodeFileSandbox(const std::optional<wire::Sandbox>& sandbox,
                                                     const std::string& server_cwd) {
  if (!sandbox) return std::nullopt;
  TRY(SandboxSpec spec, DecodeSandbox(*sandbox, server_cwd));
  if (!spec.restricts_files()) return std::nullopt;
  if (SpeaksOfProject(spec.profile) && !NamesPlaces(*sandbox)) {
    return Fail(ErrorKind::kInvalidParams, "sandbox.cwd: is missing, but the permissions refer to the project");
  }
  spec.profile.policy.network = Network::kRestricted;
  return spec;
}

Result<> CheckNetworkAllowed(const std::optional<wire::Sandbox>& sandbox, const std::string& server_cwd) {
  if (!sandbox) return {};
  TRY(const SandboxSpec spec, DecodeSandbox(*sandbox, server_cwd));
  if (spec.profile.policy.network == Network::kEnabled) return {};
  return Fail(ErrorKind::kInvalidParams, "sandbox: it has no network");
}

}  // namespace holdfast::sandbox
