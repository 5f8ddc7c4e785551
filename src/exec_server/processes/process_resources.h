// What the processes of all sessions share.
#pragma once

#include <cstddef>

#include "exec_server/config/config.h"
#include "exec_server/processes/retention.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "sandbox/launch/sandbox_program.h"

namespace holdfast::exec_server {

// A process runs until its command has exited and is alive until nothing of it is left. Both are bounded by the same
// limit, so that commands which leave something behind cannot add up without end, and one that has just exited is not
// in the way of the next.
struct ProcessCounts {
  size_t running = 0, alive = 0;

  bool Full(size_t limit) const { return running >= limit || alive >= 2 * limit; }
};

struct ProcessResources {
  loop::EventLoop& loop;
  process::Spawner& spawner;
  const Config& config;
  loop::WorkerPool& workers;
  const sandbox::SandboxProgram& sandbox_program;
  Retention& retention;
  ProcessCounts counts = {};  // of all sessions
};

}  // namespace holdfast::exec_server
