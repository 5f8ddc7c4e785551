// A process under the name its client gave it: its events become notifications, its start is answered once it is known,
// and it is remembered for a while after it closed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/process_resources.h"
#include "exec_server/processes/start_command.h"
#include "exec_server/processes/write_ids.h"
#include "loop/event.h"
#include "process/process.h"
#include "rpc/reply.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

wire::Stream OnWire(process::Stream stream);

class ManagedProcess final : public process::ProcessOwner {
 public:
  using StartReply = rpc::Reply<wire::ProcessStartResult>;

  // The list of processes that this one stands in. A call may let go of the process, but it stays alive for this turn
  // of the loop.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnFailed(ManagedProcess& process) = 0;
    virtual void OnExited(ManagedProcess& process) = 0;
    virtual void OnClosed(ManagedProcess& process) = 0;
    virtual void OnGone(ManagedProcess& process) = 0;
  };

  // Where the process lives; all of it outlives the process.
  struct Place {
    ProcessResources& resources;
    const ClientLink& link;
    const std::string& session_id;
    Owner& owner;
  };

  ManagedProcess(const Place& place, std::string id, const StartOrder& order, StartReply reply);

  // On success the reply follows when the command has been executed; on failure the reply is answered here.
  Result<> Launch(const StartOrder& order);

  const std::string& id() const { return id_; }
  process::Process& process() { return *process_; }
  const process::Process& process() const { return *process_; }
  WriteIds& write_ids() { return write_ids_; }
  bool sandbox_denied() const { return sandbox_denied_; }  // decided at the exit
  bool starting() const { return process_->phase() == process::Process::Phase::kStarting; }
  bool running() const { return !process_->exit_code() && process_->phase() != process::Process::Phase::kFailed; }
  wire::ListedProcess Describe() const;
  size_t retained_bytes() const;

  // Notified of everything that a client could wait for: the end of the start, output, the exit, the close.
  loop::Event& changed() { return changed_; }

 private:
  void OnStarted(process::Process& process) override;
  void OnStartFailed(process::Process& process, const Error& error) override;
  void OnOutput(process::Process& process, const process::Chunk& chunk) override;
  void OnExited(process::Process& process, uint64_t seq) override;
  void OnClosed(process::Process& process, uint64_t seq) override;
  void OnGone(process::Process& process) override;
  bool WantsOutput() const override;

  Result<> RefuseStart(const Error& why);
  void ReportFailure(const Error& error);
  void Announce(const std::function<std::string()>& message) const;

  const Place place_;
  std::string id_, quoted_id_;
  std::vector<std::string> argv_;
  wire::SandboxType sandbox_type_;
  bool confined_;  // something is enforced on it
  bool sandbox_denied_ = false;
  std::optional<StartReply> start_reply_;
  std::unique_ptr<process::Process> process_;
  WriteIds write_ids_;
  loop::Event changed_;
};

}  // namespace holdfast::exec_server
