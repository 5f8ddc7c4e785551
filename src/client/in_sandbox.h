// Adds a sandbox to the params of a request.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "wire/sandbox_messages.h"

namespace holdfast::client {

// `sandbox` is the JSON of the `sandbox` member; empty: no sandbox.
template <typename Params>
Result<wire::Sandboxed<Params>> InSandbox(const std::string& sandbox, Params params) {
  wire::Sandboxed<Params> sandboxed;
  static_cast<Params&>(sandboxed) = std::move(params);
  if (sandbox.empty()) return sandboxed;
  TRY(sandboxed.sandbox, wire::Sandbox::FromJson(sandbox));
  return sandboxed;
}

}  // namespace holdfast::client
