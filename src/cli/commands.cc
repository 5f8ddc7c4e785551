#include "cli/commands.h"

#include <vector>

#include "cli/files/cp_command.h"
#include "cli/files/file_commands.h"
#include "cli/local/completion_command.h"
#include "cli/local/doctor_command.h"
#include "cli/local/exec_server_command.h"
#include "cli/local/execpolicy_command.h"
#include "cli/local/forward_command.h"
#include "cli/local/man_command.h"
#include "cli/local/mcp_server_command.h"
#include "cli/local/rendezvous_command.h"
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
      ForwardCommand(),
      RendezvousCommand(),
      McpServerCommand(),
      SandboxCommand(),
      DebugLandlockCommand(),
      DoctorCommand(),
      ExecpolicyCheckCommand(),
      ExecpolicyAllowCommand(),
      CompletionCommand(),
      ManCommand(),
  };
  return commands;
}

std::vector<std::string> WordsOf(std::string_view called_as, std::vector<std::string> words) {
  if (called_as != "codex-exec-mcp-server") return words;
  if (!words.empty() && (words[0] == "-V" || words[0] == "--version")) return {"--version"};
  words.insert(words.begin(), "mcp-server");
  return words;
}

}  // namespace holdfast::cli
