// The process/* methods.
#pragma once

#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "rpc/reply.h"
#include "wire/process_control_messages.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

class ProcessService {
 public:
  explicit ProcessService(Runtime& runtime) : runtime_(runtime) {}

  void Start(Session& session, const wire::ProcessStartParams& params, rpc::Reply<wire::ProcessStartResult> reply);
  void Read(Session& session, const wire::ProcessReadParams& params, rpc::Reply<wire::ProcessReadResult> reply);
  void Write(Session& session, const wire::ProcessWriteParams& params, rpc::Reply<wire::ProcessWriteResult> reply);
  void CloseStdin(Session& session, const wire::ProcessIdParams& params, rpc::Reply<wire::Empty> reply);
  void Resize(Session& session, const wire::ProcessResizeParams& params, rpc::Reply<wire::Empty> reply);
  void Signal(Session& session, const wire::ProcessSignalParams& params, rpc::Reply<wire::Empty> reply);
  void Terminate(Session& session, const wire::ProcessTerminateParams& params,
                 rpc::Reply<wire::ProcessTerminateResult> reply);
  void Wait(Session& session, const wire::ProcessWaitParams& params, rpc::Reply<wire::ProcessWaitResult> reply);
  void Snapshot(Session& session, const wire::ProcessIdParams& params, rpc::Reply<wire::ProcessSnapshotResult> reply);
  void List(Session& session, const wire::ProcessListParams& params, rpc::Reply<wire::ProcessListResult> reply);

 private:
  // Runs `use` with the process once it is known whether it started; an unknown one is answered with an error.
  template <typename T>
  void WithProcess(Session& session, const std::string& process_id, rpc::Reply<T> reply,
                   std::move_only_function<void(std::shared_ptr<ManagedProcess>, rpc::Reply<T>)> use);

  Runtime& runtime_;
};

}  // namespace holdfast::exec_server
