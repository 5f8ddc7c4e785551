#include "exec_server/runtime.h"

#include <cstdlib>

#include "base/file_uri.h"
#include "exec_server/command_path.h"
#include "exec_server/environment_info.h"

namespace holdfast::exec_server {
namespace {

// Output of finished processes, all together. Beyond it the oldest are forgotten before their time.
constexpr size_t kMaxFinishedOutputBytes = 256u << 20;

// Reached only when jobs are stuck: as many as a good dozen of connections can have.
constexpr size_t kMaxFileWorkers = 1024;

std::string Variable(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::string ToolPath() { return Variable("PATH", "/usr/bin:/bin"); }

}  // namespace

Runtime::Runtime(loop::EventLoop& event_loop, process::Spawner& process_spawner, const Config& configuration)
    : loop(event_loop),
      spawner(process_spawner),
      config(configuration),
      workers(event_loop, {.name = "files", .max_workers = kMaxFileWorkers}),
      held(std::make_shared<loop::ByteBudget>(event_loop,
                                              loop::ByteBudget::Options{.bytes = configuration.max_held_bytes})),
      environment_info(DescribeEnvironment()),
      server_environment(process::CurrentEnvironment()),
      command_path(FindCommandPath(OwnDirectory())),
      sandbox_program(OpenSandboxPrograms(ToolPath()), ToolPath(), Variable("TMPDIR")),
      file_helpers(event_loop, process_spawner, sandbox_program),
      heap(event_loop),
      retention(event_loop, heap, std::chrono::milliseconds(configuration.exited_retention_ms),
                kMaxFinishedOutputBytes) {
  if (!command_path.empty()) environment_info.prepend_path_dirs = {FileUri(command_path)};
}

}  // namespace holdfast::exec_server
