// The sandbox of a request as the client sends it. sandbox/policy/permission_profile.h reads the permissions
// themselves.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "wire/encode.h"

namespace holdfast::wire {

enum class WindowsSandboxLevel { kDisabled, kRestrictedToken, kElevated };
template <>
struct EnumNames<WindowsSandboxLevel> {
  static constexpr std::array<std::pair<const char*, WindowsSandboxLevel>, 3> kNames{
      {{"disabled", WindowsSandboxLevel::kDisabled},
       {"restricted-token", WindowsSandboxLevel::kRestrictedToken},
       {"elevated", WindowsSandboxLevel::kElevated}}};
};

// The directories that the places of a policy refer to, if they differ from the directories of the sandbox.
struct PolicyContext {
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> workspace_roots;

  void Fields(auto& f) {
    f.Optional("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
  }
};

// The rules of a sandbox are views of the message. A client may give permissions (a profile), or a legacy policy
// instead, or the whole object may be a legacy policy. If a client gives several of these, sandbox_spec.h checks that
// they agree.
struct Sandbox {
  // The members of a sandbox, which may also stand in an object that is itself a legacy policy.
  static constexpr auto kMembers = std::to_array<const char*>(
      {"permissions", "sandboxPolicy", "cwd", "workspaceRoots", "policyContext", "useLegacyLandlock",
       "windowsSandboxLevel", "windowsSandboxPrivateDesktop", "windowsSandboxProxySettingsMode", "userHomeDir",
       "temporaryDirectories", "sandboxOverride"});

  RawJson sent;         // the whole sandbox, which only a client sets; a server decodes the other members
  Json permissions;     // a profile
  Json sandbox_policy;  // a legacy policy
  Json bare_policy;     // the sandbox object itself, if it is a legacy policy
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> workspace_roots;
  std::optional<PolicyContext> policy_context;
  std::optional<bool> use_legacy_landlock;
  // Clients of every operating system must send this member.
  WindowsSandboxLevel windows_sandbox_level = WindowsSandboxLevel::kDisabled;

  // Returns a sandbox for a client to send. The text must be a JSON object.
  static Result<Sandbox> FromJson(std::string_view text);
  const RawJson& json() const {
    CHECK(!sent.text.empty());  // an empty sandbox would be no sandbox
    return sent;
  }

  void Fields(Decoder& f) {
    f.Optional("sandboxPolicy", sandbox_policy);
    f.Optional("permissions", permissions);
    if (!f.object().Find("type").is_null()) bare_policy = f.object();
    const bool is_profile = !permissions.is_null() || (sandbox_policy.is_null() && bare_policy.is_null());
    if (is_profile) f.Required("permissions", permissions);
    if (is_profile) f.Required("windowsSandboxLevel", windows_sandbox_level);
    if (bare_policy.is_null()) RefuseStrayRules(f);
    Places(f);
  }

  template <Describer F>
  void Fields(F& f) {
    f.Object("permissions", "A permission profile, or its older form without a type (docs/SANDBOX.md).");
    f.Object("sandboxPolicy", "A legacy policy.");
    f.String("type", "The type of a legacy policy, if this object is one itself and has its members.");
    f.Optional("windowsSandboxLevel", windows_sandbox_level);
    Places(f);
    f.AtLeastOne({{"permissions", "windowsSandboxLevel"}, {"sandboxPolicy"}, {"type"}});
  }

  void Places(auto& f) {
    f.Optional("cwd", cwd);
    f.Optional("workspaceRoots", workspace_roots);
    f.Optional("policyContext", policy_context);
    f.Optional("useLegacyLandlock", use_legacy_landlock);
  }

  // Refuses rules that stand beside the object that they belong in, because they would not be enforced.
  static void RefuseStrayRules(Decoder& f) {
    for (const char* name : {"file_system", "network", "network_access", "networkAccess", "writable_roots",
                             "writableRoots", "access", "read_only_access", "readOnlyAccess"}) {
      if (!f.object().Find(name).is_absent()) f.Fault(name, "belongs in permissions or sandboxPolicy");
    }
  }
};

// The params of an operation that a client may request under a sandbox.
template <typename Params>
struct Sandboxed : Params {
  std::optional<Sandbox> sandbox;

  void Fields(auto& f) {
    Params::Fields(f);
    f.Optional("sandbox", sandbox);
  }
};

}  // namespace holdfast::wire
