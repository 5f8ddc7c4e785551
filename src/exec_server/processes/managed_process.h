// A managed process is a process under the name that its client gave it. It sends the events of the process to the
// driver of its session as notifications, and answers process/start when the start has succeeded or failed. Its owner
// notifies the observers of the session, and keeps the process for a while after it has closed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "escalate/seccomp/supervision.h"
#include "exec_server/link/client_link.h"
#include "exec_server/processes/client_approver.h"
#include "exec_server/processes/finished_process.h"
#include "exec_server/processes/observer_cursor.h"
#include "exec_server/processes/process_ending.h"
#include "exec_server/processes/process_resources.h"
#include "exec_server/processes/start_command.h"
#include "exec_server/processes/write_ids.h"
#include "loop/event.h"
#include "process/process.h"
#include "rpc/reply.h"
#include "wire/notification.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

class ManagedProcess final : public process::ProcessOwner {
 public:
  using StartReply = rpc::Reply<wire::ProcessStartResult>;

  // The owner is the list of processes that this process is in. When it is called, it may drop the process from the
  // list, but it keeps the object alive until the end of this turn of the loop.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnFailed(ManagedProcess& process, const Error& error) = 0;
    virtual void OnExited(ManagedProcess& process) = 0;
    virtual void OnClosed(ManagedProcess& process) = 0;
    virtual void OnGone(ManagedProcess& process) = 0;
    // The process has been started, has written, has exited or has closed, and the driver was notified.
    virtual void OnNews(const ManagedProcess& process) = 0;
  };

  // The objects that a process uses. All of them outlive the process.
  struct Context {
    ProcessResources& resources;
    const ClientLink& link;
    loop::Event& driver_changed;  // the link leads to another client, or to none
    const std::string& session_id;
    Owner& owner;
  };

  ManagedProcess(const Context& context, std::string id, const StartRequest& request, StartReply reply);

  // Starts the command. If that fails at once, the reply is answered before Start returns; otherwise it is answered
  // when the command has been executed or its start has failed.
  Result<> Start(const StartRequest& request);

  const std::string& id() const { return id_; }
  const std::string& quoted_id() const { return quoted_id_; }  // as a JSON string
  process::Process& process() { return *process_; }
  const process::Process& process() const { return *process_; }
  WriteIds& write_ids() { return write_ids_; }
  ProcessEnding& ending() { return *ending_; }
  const ProcessEnding& ending() const { return *ending_; }
  bool sandbox_denied() const { return sandbox_denied_; }  // false until the exit, where it is decided
  bool starting() const { return process_->phase() == process::Process::Phase::kStarting; }
  bool running() const { return !process_->exit_code() && process_->phase() != process::Process::Phase::kFailed; }
  NumberedEvents events() const;
  wire::Exit DescribeExit(uint64_t seq) const;
  wire::ListedProcess Describe() const;
  size_t described_bytes() const;  // about the length of the description as JSON, which escapes make longer
  FinishedProcess Finished() const;
  size_t retained_bytes() const;

  // This event is notified of everything that a client could wait for: the success or failure of the start, output, the
  // exit, the close.
  loop::Event& changed() { return changed_; }

 private:
  void OnStarted(process::Process& process) override;
  void OnStartFailed(process::Process& process, const Error& error) override;
  void OnOutput(process::Process& process, const process::Chunk& chunk) override;
  void OnExited(process::Process& process, uint64_t seq) override;
  void OnClosed(process::Process& process, uint64_t seq) override;
  void OnGone(process::Process& process) override;
  bool WantsOutput() const override;

  Result<std::unique_ptr<process::Process>> StartSandboxed(const StartRequest& request);
  Result<std::unique_ptr<process::Process>> StartPlainly(const StartRequest& request);
  process::OutputLimits Limits() const;
  Result<> Supervise(const StartRequest& request);  // if the request asks for it
  Result<> RefuseStart(const Error& why);
  void AnswerFailure(const Error& error);
  void Announce(const std::function<std::string()>& message) const;
  void TellOthers();

  const Context context_;
  std::string id_, quoted_id_;
  const wire::ListedProcess description_;  // without what changes
  wire::SandboxType sandbox_type_;
  bool confined_;  // the process runs under a policy that restricts something
  bool sandbox_denied_ = false;
  std::optional<StartReply> start_reply_;
  ClientApprover approver_;
  std::unique_ptr<escalate::Supervision> supervision_;  // until nothing of the process is alive
  std::unique_ptr<process::Process> process_;
  std::optional<ProcessEnding> ending_;  // present together with the process
  std::optional<uint64_t> exit_seq_, close_seq_;
  WriteIds write_ids_;
  loop::Event changed_;
};

}  // namespace holdfast::exec_server
