#include "cli/commands.h"

#include <array>
#include <vector>

#include "cli/files/commands.h"
#include "cli/local/commands.h"
#include "cli/runs/commands.h"

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
    {"schema", SchemaCommand},
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
