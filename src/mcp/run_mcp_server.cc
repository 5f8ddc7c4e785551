#include "mcp/run_mcp_server.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/environment_variable.h"
#include "base/log.h"
#include "exec_policy/store/load.h"
#include "exec_policy/store/rule_layers.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"
#include "mcp/seccomp_interceptor.h"
#include "mcp/server.h"
#include "mcp/shell_tool.h"
#include "process/spawner.h"
#include "sandbox/launch/sandbox_program.h"
#include "transport/listener.h"

namespace holdfast::mcp {
namespace {

using namespace std::chrono_literals;

// The server ends after this time even if a process that it has started cannot be killed. Its keeper goes on trying.
constexpr auto kShutdownPatience = 5s;

Result<std::string> OwnDirectory() {
  std::error_code failed;
  auto cwd = std::filesystem::current_path(failed);
  if (failed) return FailErrno("getcwd", {}, failed.value());
  return cwd.string();
}

Result<> CheckShell(const std::string& shell) {
  if (!shell.starts_with('/')) return Fail(ErrorKind::kInvalidParams, "--shell: " + shell + " is not an absolute path");
  if (::access(shell.c_str(), X_OK) < 0) return FailErrno("access", shell);
  return {};
}

sandbox::SandboxProgram MakeSandboxProgram() {
  const std::string tool_path = EnvironmentVariable("PATH").value_or("/usr/bin:/bin");
  return {sandbox::OpenSandboxPrograms({}, tool_path), tool_path, EnvironmentVariable("TMPDIR").value_or("")};
}

// The one place where an interceptor is chosen. The shell that the server starts itself is not judged.
std::unique_ptr<Interceptor> MakeInterceptor(loop::EventLoop& loop, process::Spawner& spawner,
                                             const sandbox::SandboxProgram& sandbox_program,
                                             escalate::SupervisionOptions options) {
  return std::make_unique<SeccompInterceptor>(loop, spawner, sandbox_program, std::move(options));
}

Result<exec_policy::Policy> LoadRules(const std::vector<std::string>& files) {
  const auto layers = exec_policy::FindRuleLayers(exec_policy::HomeVariables::OfThisProcess());
  return exec_policy::LoadPolicy(layers.directories, files);
}

void Serve(loop::EventLoop& loop, const ServerContext& context, ServerSettings settings) {
  transport::Limits limits;
  limits.max_message_bytes = Server::kMaxMessageBytes;
  Server server(context, std::move(settings), transport::ServeLines(loop, STDIN_FILENO, STDOUT_FILENO, limits),
                [&loop] { loop.Stop(); });
  loop::Timer patience(loop, [&loop] { loop.Stop(); });
  bool stopping = false;
  loop::SignalWatch signals(loop, {SIGTERM, SIGINT, SIGHUP}, [&](int signal) {
    // The keepers notice the end of the server and kill what is left.
    if (std::exchange(stopping, true)) std::_Exit(128 + signal);
    patience.Start(kShutdownPatience);
    server.Shutdown();
  });
  server.Start();
  loop.Run();
}

}  // namespace

Result<> RunMcpServer(const McpServerOptions& options) {
  InitLog(LogLevel::kWarn, LogFormat::kText);
  TRY_VOID(CheckShell(options.shell));
  TRY(exec_policy::Policy policy, LoadRules(options.rules));
  TRY(std::string cwd, OwnDirectory());
  auto sandbox = SandboxState::Create(std::move(cwd), options.sandbox_policy);
  if (!sandbox) return Fail(ErrorKind::kInvalidParams, "--sandbox-policy: " + sandbox.error().message);
  loop::EventLoop loop;
  TRY(const auto spawner, process::Spawner::Create(loop));
  const sandbox::SandboxProgram sandbox_program = MakeSandboxProgram();
  const auto interceptor = MakeInterceptor(loop, *spawner, sandbox_program,
                                           {.policy = std::make_shared<const exec_policy::Policy>(std::move(policy)),
                                            .names = options.names,
                                            .strictness = options.strictness,
                                            .first = escalate::FirstExec::kTrusted});
  ServerSettings settings{.shell = options.shell,
                          .environment = EnvironmentOfCommands(process::CurrentEnvironment()),
                          .sandbox = *std::move(sandbox)};
  Serve(loop, {.loop = loop, .spawner = *spawner, .interceptor = *interceptor}, std::move(settings));
  return {};
}

}  // namespace holdfast::mcp
