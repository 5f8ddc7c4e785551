// SandboxSpec is the sandbox that a request asks for: a profile, and the directories that its places stand for.
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
  std::optional<wire::ManagedNetwork> proxies;  // the only network; absent: the profile decides about the network

  bool restricts_files() const { return profile.policy.files.has_value(); }
  // Returns whether the sandbox restricts anything at all.
  bool restricts() const { return profile.type != ProfileType::kDisabled || proxies; }

  friend bool operator==(const SandboxSpec&, const SandboxSpec&) = default;
};

// Returns whether the policy may protect missing paths whose names do not begin with a dot (sys/placeholder.h).
bool MayProtectAnyName(const SandboxSpec& spec);

// Decodes the sandbox of a request. Fails with kInvalidParams when it makes no sense, is not understood, or contradicts
// itself: its `permissions`, its `sandboxPolicy` and the policy that the object itself may be must all be the same
// profile. `cwd` is the directory of the project unless the sandbox names one.
Result<SandboxSpec> DecodeSandbox(const wire::Sandbox& sandbox, const std::string& cwd);

// Returns JSON that DecodeSandbox decodes to an equal spec, for a client to send. The spec has no proxies, which a
// request names elsewhere.
std::string SandboxText(const SandboxSpec& spec);

// Decodes the restrictions for a file request, which are those about files alone. Returns nothing when access to files
// is not restricted.
Result<std::optional<SandboxSpec>> DecodeFileSandbox(const std::optional<wire::Sandbox>& sandbox,
                                                     const std::string& server_cwd);

// Fails unless the sandbox leaves the network enabled. It guards requests for which the server itself uses the network.
Result<> CheckNetworkAllowed(const std::optional<wire::Sandbox>& sandbox, const std::string& server_cwd);

}  // namespace holdfast::sandbox
