// What a request says about its sandbox. The permissions themselves are for profile/permission_profile.h.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/decode.h"

namespace holdfast::wire {

enum class WindowsSandboxLevel { kDisabled, kRestrictedToken, kElevated };
template <>
struct EnumNames<WindowsSandboxLevel> {
  static constexpr std::array<std::pair<const char*, WindowsSandboxLevel>, 3> kNames{
      {{"disabled", WindowsSandboxLevel::kDisabled},
       {"restricted-token", WindowsSandboxLevel::kRestrictedToken},
       {"elevated", WindowsSandboxLevel::kElevated}}};
};

// Where a policy's places are, if not where the sandbox is.
struct PolicyContext {
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> workspace_roots;

  void Fields(Decoder& f) {
    f.Optional("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
  }
};

// Its permissions are a view of the message. A policy of the kind that came before profiles may stand for them, or for
// the whole object.
struct Sandbox {
  Json permissions;     // a permission profile, or
  Json sandbox_policy;  // such a policy
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> workspace_roots;
  std::optional<PolicyContext> policy_context;
  std::optional<bool> use_legacy_landlock;
  WindowsSandboxLevel windows_sandbox_level = WindowsSandboxLevel::kDisabled;  // clients of every system must send it

  void Fields(Decoder& f) {
    f.Optional("sandboxPolicy", sandbox_policy);
    if (!f.object().Find("type").is_null()) sandbox_policy = f.object();
    if (sandbox_policy.is_null()) {
      f.Required("permissions", permissions);
      f.Required("windowsSandboxLevel", windows_sandbox_level);
    }
    f.Optional("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
    f.Optional("policyContext", policy_context);
    f.Optional("useLegacyLandlock", use_legacy_landlock);
  }
};

// The params of an operation that may be asked for under a sandbox.
template <typename Params>
struct Sandboxed : Params {
  std::optional<Sandbox> sandbox;

  void Fields(Decoder& f) {
    Params::Fields(f);
    f.Optional("sandbox", sandbox);
  }
};

}  // namespace holdfast::wire
