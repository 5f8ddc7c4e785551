// The messages between the execve wrapper, which a patched shell executes in the place of each program, and the server.
// They are those of published wrappers, shells and servers (docs/INTERNALS.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

// The variables by which a patched shell finds the execve wrapper, and the wrapper the server. A command outside gets
// none of them.

// The number under which the shell, and everything that it starts, inherits a socket of the server.
inline constexpr std::string_view kSocketVariable = "CODEX_ESCALATE_SOCKET";

// The path of the wrapper.
inline constexpr std::string_view kBashVariable = "BASH_EXEC_WRAPPER", kZshVariable = "EXEC_WRAPPER";

inline constexpr std::string_view kWrapperVariables[] = {kSocketVariable, kBashVariable, kZshVariable};

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

// Message 2, to the wrapper.
struct ExecAnswer {
  exec_policy::Action action = exec_policy::Action::kDeny;
  std::optional<std::string> reason = {};  // of a denial

  friend bool operator==(const ExecAnswer&, const ExecAnswer&) = default;
};

// Message 3, to the server, after an escalation.
struct HandOver {
  std::vector<int> fds = {};  // the numbers of the descriptors that come with the message

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// Message 4, to the wrapper, after the end of a command outside.
struct ExitCode {
  int exit_code = 0;  // 0 to 255

  friend bool operator==(const ExitCode&, const ExitCode&) = default;
};

std::string Encode(const ExecAnswer& answer);
std::string Encode(const HandOver& message);
std::string Encode(const ExitCode& end);

// Decoding refuses numbers that no descriptor has.
Result<ExecAnswer> DecodeAnswer(std::string_view text);
Result<HandOver> DecodeHandOver(std::string_view text);
Result<ExitCode> DecodeExitCode(std::string_view text);

}  // namespace holdfast::escalate
