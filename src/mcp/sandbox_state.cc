#include "mcp/sandbox_state.h"

#include <utility>

#include "base/file_uri.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/legacy_policy.h"
#include "wire/json.h"

namespace holdfast::mcp {

Result<SandboxState> SandboxState::Create(std::string cwd, const std::optional<std::string>& policy) {
  SandboxState state(std::move(cwd));
  state.spec_.policy_cwd = state.server_cwd_;
  if (!policy) {
    state.spec_.profile.policy = sandbox::ReadOnly();
    return state;
  }
  wire::Document document;
  TRY(const wire::Json json, document.Parse(*policy));
  TRY(state.spec_.profile, sandbox::DecodeLegacyPolicy(json));
  return state;
}

Result<> SandboxState::Update(const SandboxStateParams& params) {
  const auto refused = [](std::string_view member, const Error& error) {
    return Fail(ErrorKind::kInvalidParams, std::string(member) + ": " + error.message);
  };
  auto profile = sandbox::DecodeLegacyPolicy(params.sandbox_policy);
  if (!profile) return refused("sandboxPolicy", profile.error());
  const bool relative = !params.sandbox_cwd.starts_with('/') && !params.sandbox_cwd.starts_with("file:");
  auto cwd = ParsePath(relative ? server_cwd_ + "/" + params.sandbox_cwd : params.sandbox_cwd);
  if (!cwd) return refused("sandboxCwd", cwd.error());
  spec_.profile = *std::move(profile);
  spec_.policy_cwd = *std::move(cwd);
  return {};
}

}  // namespace holdfast::mcp
