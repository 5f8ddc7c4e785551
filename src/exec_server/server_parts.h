// The parts of a server besides its listener, connections and sessions: the objects that all sessions share, and the
// services that answer requests. Each part is given the other parts that it uses, and none of them knows this list.
#pragma once

#include <memory>

#include "exec_server/capabilities/capability_service.h"
#include "exec_server/config/config.h"
#include "exec_server/environment/environment_service.h"
#include "exec_server/files/file_requests.h"
#include "exec_server/files/fs_handle_service.h"
#include "exec_server/files/fs_service.h"
#include "exec_server/files/fs_watch_service.h"
#include "exec_server/http/http_service.h"
#include "exec_server/processes/heap_trim.h"
#include "exec_server/processes/process_resources.h"
#include "exec_server/processes/process_service.h"
#include "exec_server/processes/retention.h"
#include "exec_server/runtime_paths.h"
#include "exec_server/session/session_resources.h"
#include "files/workers/file_helpers.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/launchers.h"
#include "sandbox/launchers/sandboxed_start.h"

namespace holdfast::exec_server {

// Each part may use the parts above it. `loop`, `spawner` and `config` outlive them all.
struct ServerParts {
  ServerParts(loop::EventLoop& loop, process::Spawner& spawner, const Config& config, const RuntimePaths& paths = {});

  loop::WorkerPool workers;                // runs the calls that block, such as those on files
  std::shared_ptr<loop::ByteBudget> held;  // counts the memory that clients make the server hold; ends before workers
  sandbox::SandboxProgram sandbox_program;
  sandbox::Launchers launchers;
  sandbox::SandboxedStart::Resources sandboxed;  // for everything that starts in a sandbox
  files::FileHelpers file_helpers;
  HeapTrim heap;
  Retention retention;
  ProcessResources processes;
  SessionResources sessions;

  ProcessService process;
  EnvironmentService environment;
  FileRequests file_requests;
  FsService fs;
  FsHandleService fs_handles;
  FsWatchService fs_watches;
  CapabilityService capabilities;
  HttpService http;
};

}  // namespace holdfast::exec_server
