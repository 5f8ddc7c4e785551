// The request of the execve wrapper, which a patched shell executes in the place of each program. The protocol is the
// one of published wrappers and shells (docs/INTERNALS.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::escalate {

// Message 1, to the server: a program that is about to be executed.
struct ExecRequest {
  std::string file = {};  // as the shell has found it; may be relative to the directory
  std::vector<std::string> argv = {};
  // The directory of the wrapper, as the wrapper says. The server finds it out by itself.
  std::string workdir = {};
  std::vector<std::string> environment = {};  // NAME=VALUE entries in their order, also malformed ones

  friend bool operator==(const ExecRequest&, const ExecRequest&) = default;
};

std::string Encode(const ExecRequest& request);

// Returns whether the request has bytes or variables that the published protocol cannot carry. A server that does not
// know ours hangs up.
bool IsBeyondJson(const ExecRequest& request);

// Refuses what cannot be passed to the kernel, such as a NUL in a string.
Result<ExecRequest> DecodeRequest(std::string_view text);

}  // namespace holdfast::escalate
