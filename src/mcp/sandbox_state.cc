#include "mcp/sandbox_state.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/file_uri.h"
#include "sandbox/policy/legacy_policy.h"
#include "wire/decode.h"

namespace holdfast::mcp {
namespace {

std::unexpected<Error> Refused(std::string_view member, const Error& error) {
  return Fail(ErrorKind::kInvalidParams, std::string(member) + ": " + error.message);
}

// A client that sends both means the profile: not every profile can be written as a legacy policy. A policy that is not
// understood is refused all the same.
Result<sandbox::Profile> ProfileOf(const CallSandbox& call) {
  std::optional<sandbox::Profile> profile;
  if (!call.sandbox_policy.is_absent()) {
    auto policy = sandbox::DecodeLegacyPolicy(call.sandbox_policy);
    if (!policy) return Refused("sandboxPolicy", policy.error());
    profile = *std::move(policy);
  }
  if (!call.permission_profile.is_absent()) {
    auto permissions = sandbox::DecodeProfile(call.permission_profile);
    if (!permissions) return Refused("permissionProfile", permissions.error());
    profile = *std::move(permissions);
  }
  if (!profile) return Fail(ErrorKind::kInvalidParams, "permissionProfile: is missing");
  return *std::move(profile);
}

Result<sandbox::SandboxSpec> DecodeCallSandbox(wire::Json json) {
  TRY(const CallSandbox call, wire::Decode<CallSandbox>(json, "the sandbox of the call"));
  sandbox::SandboxSpec spec;
  TRY(spec.profile, ProfileOf(call));
  auto cwd = ParsePath(call.sandbox_cwd);
  if (!cwd) return Refused("sandboxCwd", cwd.error());
  spec.policy_cwd = *std::move(cwd);
  spec.legacy_landlock = call.use_legacy_landlock.value_or(false);
  return spec;
}

}  // namespace

Result<> SandboxState::Update(const SandboxStateParams& params) {
  auto profile = sandbox::DecodeLegacyPolicy(params.sandbox_policy);
  if (!profile) return Refused("sandboxPolicy", profile.error());
  const bool relative = !params.sandbox_cwd.starts_with('/') && !params.sandbox_cwd.starts_with("file:");
  auto cwd = ParsePath(relative ? server_cwd_ + "/" + params.sandbox_cwd : params.sandbox_cwd);
  if (!cwd) return Refused("sandboxCwd", cwd.error());
  spec_.profile = *std::move(profile);
  spec_.policy_cwd = *std::move(cwd);
  return {};
}

Result<sandbox::SandboxSpec> SandboxState::OfCall(const RequestMeta& meta) const {
  const bool has_meta = !meta.sandbox_state_meta.is_absent();
  const wire::Json sent = has_meta ? meta.sandbox_state_meta : meta.sandbox_state;
  if (sent.is_absent()) return spec_;
  auto spec = DecodeCallSandbox(sent);
  if (!spec) return Refused(has_meta ? RequestMeta::kSandboxStateMeta : RequestMeta::kSandboxState, spec.error());
  return spec;
}

}  // namespace holdfast::mcp
