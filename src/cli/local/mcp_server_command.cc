#include "cli/local/commands.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/environment_variable.h"
#include "base/result.h"
#include "cli/sandbox/sandbox_choice.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/table/arguments.h"
#include "cli/text/complaint.h"
#include "mcp/run_mcp_server.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/run.h"

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

Result<> PrintExplanation(const sandbox::SandboxSpec& spec, const std::string& directory) {
  TRY(const std::string text, sandbox::Explain(CommandIn(spec, directory)));
  (void)std::fputs(text.c_str(), stdout);  // a caller that has closed standard output does not want it
  return {};
}

Result<> Serve(const Arguments& arguments) {
  using enum exec_policy::ProgramNames;
  using enum escalate::Strictness;
  using enum mcp::InterceptBy;
  TRY(const SandboxPlaces places, OwnPlaces());
  TRY(SandboxChoice choice, SandboxFrom(arguments, places));
  const sandbox::SandboxSpec spec = SpecOfRequest(std::move(choice));
  if (arguments.Has("--explain")) return PrintExplanation(spec, places.directory);
  const Shell shell = ShellOf(arguments);
  return mcp::RunMcpServer({.shell = shell.path,
                            .shell_from = shell.from,
                            .sandbox = spec,
                            .cwd = places.directory,
                            .rules = arguments.Values("--rules"),
                            .names = arguments.Has("--preserve-program-paths") ? kFullPath : kBaseName,
                            .strictness = arguments.Has("--strict") ? kStrict : kUsual,
                            .intercept = arguments.Value("--intercept") == "wrapper" ? kWrapper : kSeccomp,
                            .wrapper = arguments.ValueOr("--execve", "")});
}

int RunMcpServer(const Arguments& arguments) {
  const auto ended = Serve(arguments);
  if (ended) return 0;
  PrintComplaint("holdfast", ended.error().message);
  return ended.error().kind == ErrorKind::kInvalidParams ? kWrongUse : 1;
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
       .help = "the sandbox as a policy in JSON, such as {\"type\":\"workspace-write\"}",
       .group = kSandboxGroup},
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
  return {
      .name = "mcp-server",
      .topic = Topic::kServers,
      .summary = "Serves the tool `shell` to an MCP client on standard input and output.",
      .description =
          "Each call runs in the sandbox of the client's policy, and in the one that the options describe until the "
          "client has sent a policy. Rules decide about every program that the shell "
          "executes, or that is executed by a program: it runs in the sandbox, runs outside, or does not run, "
          "perhaps after a question to the user. When the input ends, or after SIGTERM, everything that the server "
          "has started is killed.",
      .options = WithSandboxOptions(Options(), "read-only"),
      .examples =
          WithSandboxExamples({{"holdfast mcp-server", "Serves a shell that may read everything and write nothing."},
                               {"holdfast mcp-server --workspace-write --rules project.rules",
                                "Serves a shell that may write its directory, with further rules."}},
                              "holdfast mcp-server", ""),
      .exit_statuses = {{"0", "the input has ended, or a signal has stopped the server"},
                        {"1", "the server could not start"},
                        {"2", "the command line is wrong"}},
      .run = RunMcpServer};
}

}  // namespace holdfast::cli
