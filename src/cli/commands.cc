#include "cli/commands.h"

#include <vector>

#include "cli/local/completion_command.h"
#include "cli/local/doctor_command.h"
#include "cli/local/exec_server_command.h"
#include "cli/local/man_command.h"
#include "cli/local/sandbox_command.h"

namespace holdfast::cli {

std::span<const Command> Commands() {
  static const std::vector<Command> commands = {
      ExecServerCommand(), SandboxCommand(), DebugLandlockCommand(), DoctorCommand(), CompletionCommand(), ManCommand(),
  };
  return commands;
}

}  // namespace holdfast::cli
