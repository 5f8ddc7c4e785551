// The process requests of one connection: the processes of its session, which they work on, and the requests under way
// that end with the connection.
#pragma once

#include <utility>

#include "exec_server/processes/session_processes.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "process/stdin_queue.h"

namespace holdfast::exec_server {

class ProcessRequests {
 public:
  // `sender` is the number of the connection, which its writes have.
  ProcessRequests(SessionProcesses& processes, process::StdinQueue::Sender sender)
      : processes_(processes), sender_(sender) {}
  ProcessRequests(const ProcessRequests&) = delete;
  ProcessRequests& operator=(const ProcessRequests&) = delete;

  SessionProcesses& processes() { return processes_; }
  process::StdinQueue::Sender sender() const { return sender_; }

  // Runs the task of a request that only asks for information. The task ends with the connection.
  void StartPoll(loop::Task<> request) { polls_.Start(std::move(request)); }

 private:
  SessionProcesses& processes_;
  const process::StdinQueue::Sender sender_;
  loop::Scope polls_;
};

}  // namespace holdfast::exec_server
