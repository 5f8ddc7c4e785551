// What all sessions of a server share.
#pragma once

#include <cstddef>

#include "exec_server/config.h"
#include "exec_server/retention.h"
#include "loop/event_loop.h"
#include "process/environment.h"
#include "process/spawner.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

struct Runtime {
  Runtime(loop::EventLoop& event_loop, process::Spawner& process_spawner, const Config& configuration);

  loop::EventLoop& loop;
  process::Spawner& spawner;
  const Config& config;
  wire::EnvironmentInfo environment_info;
  process::Environment server_environment;
  Retention retention;
  size_t running_processes = 0;  // of all sessions
};

}  // namespace holdfast::exec_server
