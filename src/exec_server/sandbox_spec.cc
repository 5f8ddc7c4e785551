#include "exec_server/sandbox_spec.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "profile/legacy_policy.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxProjectRoots = 256;

Error Within(std::string_view member, const Error& error) {
  return {ErrorKind::kInvalidParams, fmt::format("sandbox.{}: {}", member, error.message)};
}

Result<profile::Profile> DecodePermissions(const wire::Sandbox& sandbox) {
  const bool is_legacy = !sandbox.sandbox_policy.is_null();
  auto profile =
      is_legacy ? profile::DecodeLegacyPolicy(sandbox.sandbox_policy) : profile::DecodeProfile(sandbox.permissions);
  if (!profile) return std::unexpected(Within(is_legacy ? "sandboxPolicy" : "permissions", profile.error()));
  return profile;
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

bool IsOfProject(const sandbox::Entry& entry) {
  if (const auto* place = std::get_if<sandbox::Place>(&entry.where)) {
    return place->kind == sandbox::PlaceKind::kProjectRoots;
  }
  const auto* pattern = std::get_if<sandbox::Pattern>(&entry.where);
  return pattern != nullptr && !pattern->text.starts_with('/');
}

bool SpeaksOfProject(const profile::Profile& profile) {
  return profile.policy.files && std::ranges::any_of(profile.policy.files->entries, IsOfProject);
}

// For a project without roots: what is said of it holds nowhere.
void DropProject(profile::Profile& profile) {
  if (profile.policy.files) std::erase_if(profile.policy.files->entries, IsOfProject);
}

bool NamesPlaces(const wire::Sandbox& sandbox) {
  const auto& context = sandbox.policy_context;
  return sandbox.cwd || sandbox.workspace_roots || (context && (context->cwd || context->workspace_roots));
}

}  // namespace

Result<SandboxSpec> DecodeSandbox(const wire::Sandbox& sandbox, const std::string& cwd) {
  SandboxSpec spec;
  TRY(spec.profile, DecodePermissions(sandbox));
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
    return Fail(ErrorKind::kInvalidParams, "sandbox.cwd: is missing, and the permissions speak of the project");
  }
  spec.profile.policy.network = sandbox::Network::kRestricted;
  return spec;
}

}  // namespace holdfast::exec_server
