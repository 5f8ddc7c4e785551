// `holdfast debug`: commands under the names that codex has for them.
#pragma once

#include <optional>

#include "sandbox_command.h"

namespace holdfast {

class DebugCommand {
 public:
  explicit DebugCommand(CLI::App& app);

  // After the command line was parsed; gives the exit status.
  int Run() const;

 private:
  std::optional<SandboxCommand> landlock_;
};

}  // namespace holdfast
