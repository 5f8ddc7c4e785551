#include "cli/local/mcp_server_command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "base/environment_variable.h"
#include "cli/table/arguments.h"
#include "cli/text/complaint.h"
#include "mcp/run_mcp_server.h"

namespace holdfast::cli {
namespace {

constexpr char kShellVariable[] = "CODEX_BASH_PATH";

struct Shell {
  std::string path;
  std::string from;  // the flag or the variable that names it
};

Shell ShellOf(const Arguments& arguments) {
  for (const char* flag : {"--shell", "--bash"}) {
    if (auto path = arguments.Value(flag)) return {*std::move(path), flag};
  }
  if (auto path = EnvironmentVariable(kShellVariable)) return {*std::move(path), kShellVariable};
  return {"/bin/bash", "--shell"};
}

int RunMcpServer(const Arguments& arguments) {
  using enum exec_policy::ProgramNames;
  using enum escalate::Strictness;
  using enum mcp::InterceptBy;
  const Shell shell = ShellOf(arguments);
  const auto ended = mcp::RunMcpServer({.shell = shell.path,
                                        .shell_from = shell.from,
                                        .sandbox_policy = arguments.Value("--sandbox-policy"),
                                        .rules = arguments.Values("--rules"),
                                        .names = arguments.Has("--preserve-program-paths") ? kFullPath : kBaseName,
                                        .strictness = arguments.Has("--strict") ? kStrict : kUsual,
                                        .intercept = arguments.Value("--intercept") == "wrapper" ? kWrapper : kSeccomp,
                                        .wrapper = arguments.ValueOr("--execve", "")});
  if (ended) return 0;
  PrintComplaint("holdfast", ended.error().message);
  return 1;
}

std::vector<Option> Options() {
  return {
      {.flag = "--rules",
       .value = "FILE",
       .help = "rules about programs, beside those of the system and of the user; may be given several times",
       .completes = Completes::kFile,
       .times = Option::Times::kMany},
      {.flag = "--preserve-program-paths",
       .help = "compare rules with the absolute path of a program instead of its base name"},
      {.flag = "--strict",
       .help =
           "run every program from a copy of its arguments, so that they cannot change after the rules were applied; "
           "needs --intercept seccomp"},
      {.flag = "--intercept",
       .value = "HOW",
       .help = "seccomp: the kernel reports every program, with any shell; wrapper: a patched shell reports the "
               "programs that it executes",
       .choices = {"seccomp", "wrapper"},
       .default_value = "seccomp"},
      {.flag = "--shell",
       .value = "PATH",
       .help = "the shell that executes commands, which understands -c and -lc (default: $CODEX_BASH_PATH, or "
               "/bin/bash)",
       .completes = Completes::kProgram},
      {.flag = "--sandbox-policy",
       .value = "JSON",
       .help = "the sandbox of commands until the client sends another one, such as {\"type\":\"workspace-write\"}",
       .default_value = "{\"type\":\"read-only\"}"},
      {.flag = "--execve",
       .value = "PATH",
       .help = "the program holdfast-execve-wrapper, which only --intercept wrapper uses (default: the one in the "
               "directory of this program)",
       .completes = Completes::kProgram},
      {.flag = "--bash", .value = "PATH", .help = "the same as --shell", .shown = Option::Shown::kNo},
  };
}

}  // namespace

Command McpServerCommand() {
  return {.name = "mcp-server",
          .topic = Topic::kServers,
          .summary = "Serves the tool `shell` to an MCP client on standard input and output.",
          .description =
              "Each call runs in the sandbox of the client's policy. Rules decide about every program that the shell "
              "executes, or that is executed by a program: it runs in the sandbox, runs outside, or does not run, "
              "perhaps after a question to the user. When the input ends, or after SIGTERM, everything that the server "
              "has started is killed.",
          .options = Options(),
          .examples = {{"holdfast mcp-server", "Serves a shell that may read everything and write nothing."},
                       {"holdfast mcp-server --rules project.rules --sandbox-policy '{\"type\":\"workspace-write\"}'",
                        "Serves a shell that may write its directory, with further rules."}},
          .exit_statuses = {{"0", "the input has ended, or the server was told to stop"},
                            {"1", "the server could not start"}},
          .usage_status = 1,
          .run = RunMcpServer};
}

}  // namespace holdfast::cli
