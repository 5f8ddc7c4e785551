// The service behind the process/* methods.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "exec_server/config/config.h"
#include "exec_server/processes/process_requests.h"
#include "exec_server/processes/rules_files.h"
#include "exec_server/processes/session_processes.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "process/command/environment.h"
#include "rpc/reply.h"
#include "wire/process_control_messages.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"
#include "wire/process_wait_messages.h"

namespace holdfast::exec_server {

class ProcessService {
 public:
  // The environment and the directory for PATH that the server gives to commands.
  struct Surroundings {
    process::Environment environment;
    std::string command_path;  // environment/command_path.h
  };

  // `held` counts the memory of long answers.
  ProcessService(loop::EventLoop& loop, loop::WorkerPool& workers, loop::ByteBudget& held, const Config& config,
                 Surroundings surroundings)
      : loop_(loop), config_(config), held_(held), surroundings_(std::move(surroundings)), rules_(workers) {}

  const Surroundings& surroundings() const { return surroundings_; }

  void Start(SessionProcesses& processes, const wire::ProcessStartParams& params,
             rpc::Reply<wire::ProcessStartResult> reply);
  void Read(ProcessRequests& requests, const wire::ProcessReadParams& params,
            rpc::Reply<wire::ProcessReadResult> reply);
  void Write(ProcessRequests& requests, const wire::ProcessWriteParams& params,
             rpc::Reply<wire::ProcessWriteResult> reply);
  void CloseStdin(SessionProcesses& processes, const wire::ProcessIdParams& params, rpc::Reply<wire::Empty> reply);
  void Resize(SessionProcesses& processes, const wire::ProcessResizeParams& params, rpc::Reply<wire::Empty> reply);
  void Signal(SessionProcesses& processes, const wire::ProcessSignalParams& params, rpc::Reply<wire::Empty> reply);
  void Terminate(SessionProcesses& processes, const wire::ProcessTerminateParams& params,
                 rpc::Reply<wire::ProcessTerminateResult> reply);
  void Wait(ProcessRequests& requests, const wire::ProcessWaitParams& params,
            rpc::Reply<wire::ProcessWaitResult> reply);
  void Snapshot(ProcessRequests& requests, const wire::ProcessIdParams& params,
                rpc::Reply<wire::ProcessSnapshotResult> reply);
  void List(ProcessRequests& requests, const wire::ProcessListParams& params,
            rpc::Reply<wire::ProcessListResult> reply);

 private:
  loop::Task<Result<StartRequest>> AddExecPolicy(StartRequest request, wire::ExecPolicy wanted);
  // These tasks serve requests that may have to wait: each waits, and then answers.
  loop::Task<> ReadWhenThere(SessionProcesses& processes, wire::ProcessReadParams params,
                             rpc::Reply<wire::ProcessReadResult> reply);
  loop::Task<> WaitForExit(SessionProcesses& processes, wire::ProcessWaitParams params,
                           rpc::Reply<wire::ProcessWaitResult> reply);

  loop::EventLoop& loop_;
  const Config& config_;
  loop::ByteBudget& held_;
  const Surroundings surroundings_;
  RulesFiles rules_;
};

}  // namespace holdfast::exec_server
