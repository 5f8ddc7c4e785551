// The process requests of one connection: the processes of its session, which they work on, and the requests under way
// that end with the connection.
#pragma once

#include <utility>

#include "exec_server/processes/session_processes.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::exec_server {

class ProcessRequests {
 public:
  explicit ProcessRequests(SessionProcesses& processes) : processes_(processes) {}
  ProcessRequests(const ProcessRequests&) = delete;
  ProcessRequests& operator=(const ProcessRequests&) = delete;

  SessionProcesses& processes() { return processes_; }

  // Runs the task of a request that only asks for information. The task ends with the connection.
  void StartPoll(loop::Task<> request) { polls_.Start(std::move(request)); }

 private:
  SessionProcesses& processes_;
  loop::Scope polls_;
};

}  // namespace holdfast::exec_server
