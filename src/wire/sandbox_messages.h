// What a request says about its sandbox. The permissions themselves are for sandbox/policy/permission_profile.h.
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

// Its rules are views of the message. A policy of the kind that came before profiles may stand for the permissions, or
// the whole object may be one. Where several are given, sandbox_spec.h has them agree.
struct Sandbox {
  // What may stand beside the members of a bare policy.
  static constexpr std::array kMembers{"permissions",
                                       "sandboxPolicy",
                                       "cwd",
                                       "workspaceRoots",
                                       "policyContext",
                                       "useLegacyLandlock",
                                       "windowsSandboxLevel",
                                       "windowsSandboxPrivateDesktop",
                                       "windowsSandboxProxySettingsMode",
                                       "userHomeDir",
                                       "temporaryDirectories",
                                       "sandboxOverride"};

  Json permissions;     // a permission profile
  Json sandbox_policy;  // a policy
  Json bare_policy;     // the object itself, if it is a policy
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> workspace_roots;
  std::optional<PolicyContext> policy_context;
  std::optional<bool> use_legacy_landlock;
  WindowsSandboxLevel windows_sandbox_level = WindowsSandboxLevel::kDisabled;  // clients of every system must send it

  void Fields(Decoder& f) {
    f.Optional("sandboxPolicy", sandbox_policy);
    f.Optional("permissions", permissions);
    if (!f.object().Find("type").is_null()) bare_policy = f.object();
    const bool is_profile = !permissions.is_null() || (sandbox_policy.is_null() && bare_policy.is_null());
    if (is_profile) f.Required("permissions", permissions);
    if (is_profile) f.Required("windowsSandboxLevel", windows_sandbox_level);
    if (bare_policy.is_null()) RefuseStrayRules(f);
    f.Optional("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
    f.Optional("policyContext", policy_context);
    f.Optional("useLegacyLandlock", use_legacy_landlock);
  }

  // Rules that stand beside the object they belong into would not be enforced.
  static void RefuseStrayRules(Decoder& f) {
    for (const char* name : {"file_system", "network", "network_access", "networkAccess", "writable_roots",
                             "writableRoots", "access", "read_only_access", "readOnlyAccess"}) {
      if (!f.object().Find(name).is_absent()) f.Fault(name, "belongs into permissions or sandboxPolicy");
    }
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
