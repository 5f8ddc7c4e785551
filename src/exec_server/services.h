// Every service of a server, in the order they depend on each other.
#pragma once

#include "exec_server/environment_service.h"
#include "exec_server/file_jobs.h"
#include "exec_server/fs_handle_service.h"
#include "exec_server/fs_service.h"
#include "exec_server/fs_watch_service.h"
#include "exec_server/http_service.h"
#include "exec_server/process_service.h"
#include "exec_server/runtime.h"

namespace holdfast::exec_server {

struct Services {
  explicit Services(Runtime& runtime)
      : process(runtime),
        environment(runtime),
        file_jobs(runtime.workers, *runtime.held),
        fs(runtime, file_jobs),
        fs_handles(runtime, file_jobs),
        fs_watches(runtime),
        http(runtime) {}

  ProcessService process;
  EnvironmentService environment;
  FileJobs file_jobs;
  FsService fs;
  FsHandleService fs_handles;
  FsWatchService fs_watches;
  HttpService http;
};

}  // namespace holdfast::exec_server
