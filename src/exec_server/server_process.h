// The set-up of a process that is a server, and its run until a signal stops it. RunExecServer and RunRemoteExecutor
// share both.
#pragma once

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"
#include "exec_server/server.h"
#include "loop/event_loop.h"

namespace holdfast::exec_server {

// Checks the paths, ignores SIGPIPE and SIGXFSZ, reserves the descriptors 3 to 10 and sets up the log. It is called
// before the loop is made.
Result<> SetUpProcess(const Config& config, const RuntimePaths& paths);

// Starts the check of the sandbox and calls `on_ready`. Then runs the loop until the server has stopped. SIGTERM and
// SIGINT shut the server down, and a second signal ends the process at once.
void RunUntilSignal(loop::EventLoop& loop, Server& server, const Config& config, const RuntimePaths& paths,
                    loop::Callback on_ready);

}  // namespace holdfast::exec_server
