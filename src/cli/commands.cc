#include "cli/commands.h"

#include <array>
#include <vector>

#include "cli/files/cp_command.h"
#include "cli/files/file_commands.h"
#include "cli/local/completion_command.h"
#include "cli/local/doctor_command.h"
#include "cli/local/exec_server_command.h"
#include "cli/local/execpolicy_command.h"
#include "cli/local/forward_command.h"
#include "cli/local/help_command.h"
#include "cli/local/man_command.h"
#include "cli/local/mcp_server_command.h"
#include "cli/local/rendezvous_command.h"
#include "cli/local/sandbox_command.h"
#include "cli/runs/attach_command.h"
#include "cli/runs/call_command.h"
#include "cli/runs/inspect_command.h"
#include "cli/runs/logs_command.h"
#include "cli/runs/prune_command.h"
#include "cli/runs/ps_command.h"
#include "cli/runs/run_command.h"
#include "cli/runs/steer_commands.h"

namespace holdfast::cli {
namespace {

constexpr auto kRows = std::to_array<CommandTable::Row>({
    {"run", RunCommand},
    {"ps", PsCommand},
    {"logs", LogsCommand},
    {"attach", AttachCommand},
    {"wait", WaitCommand},
    {"kill", KillCommand},
    {"send", SendCommand},
    {"inspect", InspectCommand},
    {"prune", PruneCommand},
    {"cp", CpCommand},
    {"ls", LsCommand},
    {"cat", CatCommand},
    {"rm", RmCommand},
    {"mkdir", MkdirCommand},
    {"stat", StatCommand},
    {"call", CallCommand},
    {"exec-server", ExecServerCommand},
    {"exec-server forward", ForwardCommand},
    {"rendezvous", RendezvousCommand},
    {"mcp-server", McpServerCommand},
    {"sandbox", SandboxCommand},
    {"debug landlock", DebugLandlockCommand},
    {"doctor", DoctorCommand},
    {"execpolicy check", ExecpolicyCheckCommand},
    {"execpolicy allow", ExecpolicyAllowCommand},
    {"completion", CompletionCommand},
    {"man", ManCommand},
    {"help", HelpCommand},
    {"version", VersionCommand},
});

}  // namespace

const CommandTable& Table() {
  static const CommandTable table(kRows);
  return table;
}

std::vector<std::string> WordsOf(std::string_view called_as, std::vector<std::string> words) {
  if (called_as != "codex-exec-mcp-server") return words;
  if (!words.empty() && (words[0] == "-V" || words[0] == "--version")) return {"--version"};
  words.insert(words.begin(), "mcp-server");
  return words;
}

}  // namespace holdfast::cli
