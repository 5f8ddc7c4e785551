// The set-up of a process that is a server, and its run until a signal stops it. The processes that
// serve or forward share both.
#pragma once

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"
#include "exec_server/server.h"
#include "loop/event_loop.h"

namespace holdfast::exec_server {

// Ignores SIGPIPE and SIGXFSZ, and reserves the descriptors 0 to 11. It is called before the loop is made.
Result<> PrepareProcess();

// Checks the paths, prepares the process and sets up the log.
Result<> SetUpProcess(const Config& config, const RuntimePaths& paths);

// Starts the check of the sandbox and calls `on_ready`. Then runs the loop until the server has stopped. SIGTERM and
// SIGINT shut the server down, and a second signal ends the process at once.
void RunUntilSignal(loop::EventLoop& loop, Server& server, const Config& config, const RuntimePaths& paths,
                    loop::Callback on_ready);

// Runs the loop until it is stopped. The first SIGTERM or SIGINT calls `shut_down`, and a second one ends the process.
void RunUntilSignal(loop::EventLoop& loop, loop::Callback shut_down);

}  // namespace holdfast::exec_server
