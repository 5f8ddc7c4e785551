// SandboxState knows the sandbox of each call: the one that the client sends with the call, else the one of its last
// codex/sandbox-state/update, else the one that the operator has chosen at the start.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "mcp/messages/sandbox_messages.h"
#include "mcp/messages/tool_messages.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::mcp {

class SandboxState {
 public:
  // `cwd` is the server's directory, and `spec` the sandbox of the operator.
  SandboxState(std::string cwd, sandbox::SandboxSpec spec) : server_cwd_(std::move(cwd)), spec_(std::move(spec)) {}

  // Fails with kInvalidParams, and changes nothing, if the policy or the directory is not understood.
  Result<> Update(const SandboxStateParams& params);

  // Returns the sandbox of a call. Fails with kInvalidParams if the client sends one that is not understood.
  Result<sandbox::SandboxSpec> OfCall(const RequestMeta& meta) const;

 private:
  std::string server_cwd_;
  sandbox::SandboxSpec spec_;  // of a call that brings none
};

}  // namespace holdfast::mcp
