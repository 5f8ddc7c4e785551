// The sandbox that a request asks for, as a value: a profile, and the directories its places stand for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/permission_profile.h"
#include "wire/managed_network.h"
#include "wire/sandbox_messages.h"

namespace holdfast::sandbox {

struct SandboxSpec {
  Profile profile;
  std::string policy_cwd;                  // absolute
  std::vector<std::string> project_roots;  // absolute; empty: policy_cwd
  bool legacy_landlock = false;
  std::optional<wire::ManagedNetwork> proxies;  // all of the network that there is; absent: what the profile says

  bool restricts_files() const { return profile.policy.files.has_value(); }
  // Whether anything is to be enforced at all.
  bool restricts() const { return profile.type != ProfileType::kDisabled || proxies; }
};

// Whether the policy may be about missing paths whose names do not begin with a dot: sys/placeholder.h.
bool MayProtectAnyName(const SandboxSpec& spec);

// kInvalidParams when it makes no sense, is not understood, or says two different things: its `permissions`, its
// `sandboxPolicy` and the policy it is itself must be the same profile. `cwd` is where the project is unless the
// sandbox says it.
Result<SandboxSpec> DecodeSandbox(const wire::Sandbox& sandbox, const std::string& cwd);

// The file access alone: what a request to read or write a file is held to. Nothing when it is not restricted.
Result<std::optional<SandboxSpec>> DecodeFileSandbox(const std::optional<wire::Sandbox>& sandbox,
                                                     const std::string& server_cwd);

// For what the server itself does in the network for a client: refused unless the sandbox leaves the network enabled.
Result<> CheckNetworkAllowed(const std::optional<wire::Sandbox>& sandbox, const std::string& server_cwd);

}  // namespace holdfast::sandbox
