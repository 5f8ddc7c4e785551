#include "mcp/run_mcp_server.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <utility>

#include "base/environment_variable.h"
#include "base/log.h"
#include "escalate/outside/outside_command.h"
#include "escalate/wrapper_server/program_view.h"
#include "exec_policy/store/load.h"
#include "exec_policy/store/rule_layers.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"
#include "loop/worker_pool.h"
#include "mcp/interceptor.h"
#include "mcp/server.h"
#include "mcp/shell_tool.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/launchers.h"
#include "sandbox/launchers/sandboxed_start.h"
#include "sys/own_program.h"
#include "sys/short_slices.h"
#include "transport/lines_connection.h"

namespace holdfast::mcp {
namespace {

using namespace std::chrono_literals;

// The server ends after this time even if a process that it has started cannot be killed. Its keeper goes on trying.
constexpr auto kShutdownPatience = 5s;

Result<> CheckProgram(const std::string& from, const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    return Fail(ErrorKind::kInvalidParams, from + ": " + path + " " + reason);
  };
  if (!path.starts_with('/')) return refuse("is not an absolute path");
  if (::access(path.c_str(), X_OK) < 0) return refuse("cannot be executed: " + ErrnoText(errno));
  return {};
}

sandbox::SandboxProgram MakeSandboxProgram() {
  const std::string tool_path = EnvironmentVariable("PATH").value_or("/usr/bin:/bin");
  return {sandbox::OpenSandboxPrograms({}, tool_path), tool_path, EnvironmentVariable("TMPDIR").value_or("")};
}

std::string WrapperOf(const McpServerOptions& options) {
  return options.wrapper.empty() ? sys::OwnDirectory() + "/holdfast-execve-wrapper" : options.wrapper;
}

Result<> CheckOptions(const McpServerOptions& options) {
  TRY_VOID(CheckProgram(options.shell_from, options.shell));
  if (options.intercept == InterceptBy::kSeccomp) return {};
  if (options.strictness == escalate::Strictness::kStrict) {
    return Fail(ErrorKind::kInvalidParams,
                "--strict needs --intercept seccomp: with the wrapper, programs are not executed from a copy");
  }
  return CheckProgram("--execve", WrapperOf(options));
}

struct Surroundings {
  loop::EventLoop& loop;
  loop::WorkerPool& workers;
  process::Spawner& spawner;
};

std::unique_ptr<Interceptor> MakeWrapperInterceptor(const Surroundings& with, const McpServerOptions& options,
                                                    std::shared_ptr<const exec_policy::Policy> policy) {
  const auto start = [with](escalate::OutsideOrder order, escalate::OutsideObserver& observer) {
    return escalate::OutsideCommand::Start(with.loop, with.spawner, std::move(order), observer);
  };
  return std::make_unique<WrapperInterceptor>(
      with.loop, with.workers, WrapperOf(options),
      escalate::WrapperServerOptions{
          .policy = std::move(policy), .names = options.names, .look = escalate::ViewProgram, .start = start});
}

// The one place where an interceptor is chosen. The shell that the server starts itself is not judged.
std::unique_ptr<Interceptor> MakeInterceptor(const Surroundings& with, const McpServerOptions& options,
                                             std::shared_ptr<const exec_policy::Policy> policy) {
  if (options.intercept == InterceptBy::kWrapper) return MakeWrapperInterceptor(with, options, std::move(policy));
  return std::make_unique<SeccompInterceptor>(with.loop, with.spawner,
                                              escalate::SupervisionOptions{.policy = std::move(policy),
                                                                           .names = options.names,
                                                                           .strictness = options.strictness,
                                                                           .first = escalate::FirstExec::kTrusted});
}

Result<exec_policy::Policy> LoadRules(const std::vector<std::string>& files) {
  const auto layers = exec_policy::FindRuleLayers(exec_policy::HomeVariables::OfThisProcess());
  return exec_policy::LoadPolicy(layers.directories, files);
}

void Serve(loop::EventLoop& loop, const ServerContext& context, ServerSettings settings) {
  transport::Limits limits;
  limits.max_message_bytes = Server::kMaxMessageBytes;
  auto transport = transport::ServeLines(loop, STDIN_FILENO, STDOUT_FILENO, limits, transport::LongLines::kSkip);
  Server server(context, std::move(settings), std::move(transport), [&loop] { loop.Stop(); });
  loop::Timer patience(loop, [&loop] { loop.Stop(); });
  server.Start();
  sys::raw::AskForShortSlices();
  // After a second signal, the keepers notice the end of the server and kill what is left.
  loop::RunUntilSignal(loop, {SIGTERM, SIGINT, SIGHUP}, [&] {
    patience.Start(kShutdownPatience);
    server.Shutdown();
  });
}

}  // namespace

Result<> RunMcpServer(const McpServerOptions& options) {
  InitLog(LogLevel::kWarn, LogFormat::kText);
  TRY_VOID(CheckOptions(options));
  TRY(exec_policy::Policy policy, LoadRules(options.rules));
  loop::EventLoop loop;
  TRY(const auto spawner, process::Spawner::Create(loop));
  const sandbox::SandboxProgram sandbox_program = MakeSandboxProgram();
  loop::WorkerPool workers(loop, {.name = "programs"});
  // The failure of a jail is not reported: the helper starts the shell then, and says what is wrong if it cannot
  // either.
  sandbox::Launchers launchers(loop, *spawner, sandbox_program, {}, [](const std::string&, const Error&) {});
  const sandbox::SandboxedStart::Resources sandboxed{.loop = loop,
                                                     .spawner = *spawner,
                                                     .workers = workers,
                                                     .program = sandbox_program,
                                                     .launchers = launchers,
                                                     .memory = std::make_shared<sandbox::WalkMemory>()};
  const auto interceptor = MakeInterceptor({.loop = loop, .workers = workers, .spawner = *spawner}, options,
                                           std::make_shared<const exec_policy::Policy>(std::move(policy)));
  ServerSettings settings{.shell = options.shell,
                          .environment = EnvironmentOfCommands(process::CurrentEnvironment()),
                          .sandbox = SandboxState(options.cwd, options.sandbox)};
  const auto start = [&sandboxed](sandbox::SandboxedStart::Request request) {
    return sandbox::SandboxedStart::Of(sandboxed, std::move(request));
  };
  Serve(loop, {.loop = loop, .start = start, .interceptor = *interceptor}, std::move(settings));
  return {};
}

}  // namespace holdfast::mcp
