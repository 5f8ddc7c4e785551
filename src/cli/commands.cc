#include "cli/commands.h"

#include <vector>

#include "cli/files/cp_command.h"
#include "cli/files/file_commands.h"
#include "cli/local/completion_command.h"
#include "cli/local/doctor_command.h"
#include "cli/local/exec_server_command.h"
#include "cli/local/execpolicy_command.h"
#include "cli/local/man_command.h"
#include "cli/local/mcp_server_command.h"
#include "cli/local/sandbox_command.h"
#include "cli/runs/attach_command.h"
#include "cli/runs/call_command.h"
#include "cli/runs/inspect_command.h"
#include "cli/runs/logs_command.h"
#include "cli/runs/ps_command.h"
#include "cli/runs/run_command.h"
#include "cli/runs/steer_commands.h"

namespace holdfast::cli {

std::span<const Command> Commands() {
  static const std::vector<Command> commands = {
      RunCommand(),
      PsCommand(),
      LogsCommand(),
      AttachCommand(),
      WaitCommand(),
      KillCommand(),
      SendCommand(),
      InspectCommand(),
      CpCommand(),
      LsCommand(),
      CatCommand(),
      RmCommand(),
      MkdirCommand(),
      StatCommand(),
      CallCommand(),
      ExecServerCommand(),
      McpServerCommand(),
      SandboxCommand(),
      DebugLandlockCommand(),
      DoctorCommand(),
      ExecpolicyCheckCommand(),
      CompletionCommand(),
      ManCommand(),
  };
  return commands;
}

}  // namespace holdfast::cli
