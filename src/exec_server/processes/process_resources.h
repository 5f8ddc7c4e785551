// The objects that the processes of all sessions share.
#pragma once

#include <cstddef>

#include "exec_server/config/config.h"
#include "exec_server/processes/retention.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "sandbox/launchers/sandboxed_start.h"

namespace holdfast::exec_server {

// A process is running until its command has exited, and alive until none of the command's descendants is left. One
// limit bounds both numbers: as many processes as the limit may be running, and twice as many alive. So commands that
// leave descendants behind cannot add up without end, and a command that has just exited does not keep the next one
// from starting.
struct ProcessCounts {
  size_t running = 0, alive = 0;

  bool Full(size_t limit) const { return running >= limit || alive >= 2 * limit; }
};

struct ProcessResources {
  loop::EventLoop& loop;
  process::Spawner& spawner;
  const Config& config;
  loop::WorkerPool& workers;
  const sandbox::SandboxedStart::Resources& sandboxed;
  Retention& retention;
  ProcessCounts counts = {};  // of all sessions
  loop::Event activity = {};  // the first process has started, the last one is gone, or a connection has changed
};

}  // namespace holdfast::exec_server
