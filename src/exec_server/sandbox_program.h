// The program that builds sandboxes, holdfast-linux-sandbox, as the server starts it. The policy travels in a
// descriptor; whether the command runs comes back through another.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exec_server/sandbox_spec.h"
#include "process/command.h"

namespace holdfast::exec_server {

class SandboxProgram {
 public:
  // It stands beside the running program. That could take its part, but is linked dynamically: what the command's
  // environment has for the linker would run in it, outside the sandbox. `tool_path` is where bubblewrap is
  // looked for: not where the command's own PATH says, which others may write to.
  static SandboxProgram Find(std::string tool_path);

  SandboxProgram(std::string path, std::string tool_path) : path_(std::move(path)), tool_path_(std::move(tool_path)) {}

  // `command`, under `sandbox`.
  Result<process::Command> Wrap(const process::Command& command, const SandboxSpec& sandbox) const;

  // The file helper (fs_helper/helper_main.h) under `sandbox`, with a small environment.
  Result<process::Command> FileHelper(const SandboxSpec& sandbox) const;

 private:
  Result<process::Command> Begin(const SandboxSpec& sandbox, const std::string& cwd) const;

  std::string path_, tool_path_;
};

}  // namespace holdfast::exec_server
