// What all sessions of a server share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "exec_server/config.h"
#include "exec_server/file_helpers.h"
#include "exec_server/heap_trim.h"
#include "exec_server/retention.h"
#include "exec_server/sandbox_program.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/environment.h"
#include "process/spawner.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

// A process runs until its command has exited and is alive until nothing of it is left. Both are bounded by the same
// limit, so that commands which leave something behind cannot add up without end, and one that has just exited is not
// in the way of the next.
struct ProcessCounts {
  size_t running = 0, alive = 0;

  bool Full(size_t limit) const { return running >= limit || alive >= 2 * limit; }
};

struct Runtime {
  Runtime(loop::EventLoop& event_loop, process::Spawner& process_spawner, const Config& configuration);

  loop::EventLoop& loop;
  process::Spawner& spawner;
  const Config& config;
  loop::WorkerPool workers;                // for what blocks: files
  std::shared_ptr<loop::ByteBudget> held;  // all that clients make the server hold; ends before the workers
  wire::EnvironmentInfo environment_info;
  process::Environment server_environment;
  std::string command_path;  // command_path.h
  SandboxProgram sandbox_program;
  FileHelpers file_helpers;
  HeapTrim heap;
  Retention retention;
  ProcessCounts processes;  // of all sessions
};

}  // namespace holdfast::exec_server
