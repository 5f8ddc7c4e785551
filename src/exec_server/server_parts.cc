#include "exec_server/server_parts.h"

#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/log.h"
#include "base/paths.h"
#include "exec_server/environment/command_path.h"
#include "exec_server/environment/environment_info.h"
#include "sandbox/backend.h"

namespace holdfast::exec_server {
namespace {

// The bound on the retained output of all finished processes together. Beyond it the oldest of them are forgotten
// before their time.
constexpr size_t kMaxFinishedOutputBytes = 256u << 20;

// The bound on the threads of the worker pool. It is reached only when many jobs are stuck; a good dozen of connections
// can have that many file requests.
constexpr size_t kMaxFileWorkers = 1024;

std::string ToolPath() { return EnvironmentVariable("PATH").value_or("/usr/bin:/bin"); }

// Returns the environment that commands get, and the directory that comes first in their PATH.
ProcessService::Surroundings SurroundingsOfCommands(const RuntimePaths& paths) {
  const std::string programs(ParentOf(paths.sandbox_helper));
  return {.environment = process::CurrentEnvironment(), .command_path = FindCommandPath(programs)};
}

wire::EnvironmentInfo EnvironmentWith(const std::string& command_path) {
  wire::EnvironmentInfo info = DescribeEnvironment();
  if (!command_path.empty()) info.prepend_path_dirs = {FileUri(command_path)};
  return info;
}

// Returns the path of a URI that the server has made itself.
std::string PathOf(const std::string& uri) { return ParsePath(uri).value_or("/"); }

// The value has been checked when the settings were read.
sandbox::Backend BackendOf(const Config& config) {
  return sandbox::BackendOf(config.sandbox_backend).value_or(sandbox::Backend::kAuto);
}

// Launchers are a part of the native backend.
sandbox::Launchers::Limits LauncherLimits(const Config& config) {
  sandbox::Launchers::Limits limits{.idle_time = std::chrono::milliseconds(config.launcher_idle_ms)};
  if (BackendOf(config) == sandbox::Backend::kBubblewrap) limits.launchers = 0;
  return limits;
}

// The commands of the session are started without a launcher then, which takes longer and is not worth a warning.
void LogLauncherFailure(const std::string& session_id, const Error& why) {
  LogInfo("sandbox.no_launcher", {{"session", session_id}, {"why", why.message}});
}

}  // namespace

ServerParts::ServerParts(loop::EventLoop& loop, process::Spawner& spawner, const Config& config,
                         const RuntimePaths& paths)
    : workers(loop, {.name = "files", .max_workers = kMaxFileWorkers}),
      held(std::make_shared<loop::ByteBudget>(loop, loop::ByteBudget::Options{.bytes = config.max_held_bytes})),
      sandbox_program(
          sandbox::OpenSandboxPrograms({.helper = paths.sandbox_helper, .bubblewrap = paths.bubblewrap}, ToolPath()),
          ToolPath(), EnvironmentVariable("TMPDIR").value_or(""), BackendOf(config)),
      launchers(loop, spawner, sandbox_program, LauncherLimits(config), LogLauncherFailure),
      sandboxed{.loop = loop,
                .spawner = spawner,
                .workers = workers,
                .program = sandbox_program,
                .launchers = launchers,
                .memory = std::make_shared<sandbox::WalkMemory>()},
      file_helpers(sandboxed),
      heap(loop),
      retention(loop, heap, std::chrono::milliseconds(config.exited_retention_ms), kMaxFinishedOutputBytes),
      processes{.loop = loop,
                .spawner = spawner,
                .config = config,
                .workers = workers,
                .sandboxed = sandboxed,
                .retention = retention},
      sessions{
          .loop = loop, .config = config, .workers = workers, .file_helpers = file_helpers, .processes = processes},
      process(loop, workers, *held, config, SurroundingsOfCommands(paths)),
      environment(EnvironmentWith(process.surroundings().command_path)),
      file_requests(workers, *held, file_helpers),
      fs(file_requests, environment.info().cwd, config.max_read_file_bytes),
      fs_handles(file_requests, environment.info().cwd),
      fs_watches(loop, workers, environment.info().cwd),
      capabilities(file_requests,
                   {.server_cwd = environment.info().cwd, .user_home = PathOf(environment.info().user_home_dir)}),
      http(loop, workers, *held,
           {.environment = process.surroundings().environment,
            .cwd = environment.info().cwd,
            .max_body_bytes = config.max_http_body_bytes}) {}

}  // namespace holdfast::exec_server
