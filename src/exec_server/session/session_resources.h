// The objects that all sessions of a server share.
#pragma once

#include "exec_server/config/config.h"
#include "exec_server/processes/process_resources.h"
#include "files/workers/file_helpers.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"

namespace holdfast::exec_server {

struct SessionResources {
  loop::EventLoop& loop;
  const Config& config;
  loop::WorkerPool& workers;
  files::FileHelpers& file_helpers;
  ProcessResources& processes;
};

}  // namespace holdfast::exec_server
