// SandboxState is the sandbox of the calls that follow. The operator decides on the one at the start, and the client
// changes it by codex/sandbox-state/update.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "mcp/messages/session_messages.h"
#include "sandbox/helper_command/sandbox_spec.h"

namespace holdfast::mcp {

class SandboxState {
 public:
  // `cwd`, the server's directory, is the root of the workspace until an update names another one. `policy` is the JSON
  // of a legacy policy (sandbox/policy/legacy_policy.h); without it, commands may read everything and write nothing.
  static Result<SandboxState> Create(std::string cwd, const std::optional<std::string>& policy);

  // Fails with kInvalidParams, and changes nothing, if the policy or the directory is not understood.
  Result<> Update(const SandboxStateParams& params);

  const sandbox::SandboxSpec& spec() const { return spec_; }
  bool has_network() const { return spec_.profile.policy.network == sandbox::Network::kEnabled; }

 private:
  explicit SandboxState(std::string cwd) : server_cwd_(std::move(cwd)) {}

  std::string server_cwd_;
  sandbox::SandboxSpec spec_;
};

}  // namespace holdfast::mcp
