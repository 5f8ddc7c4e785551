// RunMcpServer is the whole MCP server as one call, for the program `holdfast`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "escalate/seccomp/supervision.h"
#include "exec_policy/judge.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::mcp {

// The way in which the programs of a call are intercepted.
enum class InterceptBy {
  kSeccomp,  // the kernel reports every program, with any shell
  kWrapper,  // a patched shell reports the programs that it executes, by the execve wrapper
};

struct McpServerOptions {
  std::string shell = "/bin/bash";      // absolute
  std::string shell_from = "--shell";   // the flag or the variable that names the shell, for errors
  sandbox::SandboxSpec sandbox;         // of the calls until the client sends another one
  std::string cwd;                      // absolute: what a relative `sandboxCwd` of the client is below
  std::vector<std::string> rules = {};  // rules files, read after those of the system and the user
  exec_policy::ProgramNames names = exec_policy::ProgramNames::kBaseName;
  escalate::Strictness strictness = escalate::Strictness::kUsual;  // kStrict: only with InterceptBy::kSeccomp
  InterceptBy intercept = InterceptBy::kSeccomp;
  std::string wrapper = {};  // absolute; empty: holdfast-execve-wrapper in the directory of this program
};

// Serves standard input and output on this thread until the input ends, or SIGTERM, SIGINT or SIGHUP arrives; a second
// signal ends the process at once. An error means that nothing was served.
Result<> RunMcpServer(const McpServerOptions& options);

}  // namespace holdfast::mcp
