// The variables by which a patched shell finds the execve wrapper, and the wrapper the server. A command outside gets
// none of them.
#pragma once

#include <string_view>

namespace holdfast::escalate {

// The number under which the shell, and everything that it starts, inherits a socket of the server.
inline constexpr std::string_view kSocketVariable = "CODEX_ESCALATE_SOCKET";

// The path of the wrapper.
inline constexpr std::string_view kBashVariable = "BASH_EXEC_WRAPPER", kZshVariable = "EXEC_WRAPPER";

inline constexpr std::string_view kWrapperVariables[] = {kSocketVariable, kBashVariable, kZshVariable};

}  // namespace holdfast::escalate
