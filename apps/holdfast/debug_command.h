// The subcommand `holdfast debug` offers features of holdfast under the names that they have in codex.
#pragma once

#include <optional>

#include "sandbox_command.h"

namespace holdfast {

class DebugCommand {
 public:
  explicit DebugCommand(CLI::App& app);

  // Runs the chosen subcommand and returns the exit status. The command line has to be parsed first.
  int Run() const;

 private:
  std::optional<SandboxCommand> landlock_;
};

}  // namespace holdfast
