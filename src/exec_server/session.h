// One client's conversation: its processes, and the connection it is attached to, if any. It survives the connection
// for a while; when it ends, nothing it started stays alive.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec_server/attachment.h"
#include "exec_server/managed_process.h"
#include "exec_server/runtime.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class Session {
 public:
  using Processes = std::map<std::string, std::shared_ptr<ManagedProcess>, std::less<>>;

  Session(Runtime& runtime, std::string id);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& id() const { return id_; }
  Runtime& runtime() { return runtime_; }

  void Attach(rpc::Transport& transport, const ClientTraits& client);
  // Requests that wait are dropped, with what belongs to the connection; processes live on and their output is kept.
  void Detach();
  bool attached() const { return attachment_ != nullptr; }
  // Null without a connection; there is one whenever a request is handled.
  const std::shared_ptr<Attachment>& attachment() const { return attachment_; }

  // The transport has room again.
  void OnDrained();

  // Answers through `reply` when the command has started, or why it has not.
  void Start(std::string process_id, const StartOrder& order, ManagedProcess::StartReply reply);
  std::shared_ptr<ManagedProcess> Find(std::string_view process_id) const;
  // Runs `callback` at once, or when a start of that name under way has succeeded or failed.
  void WhenSettled(std::string_view process_id, loop::Callback callback);
  const Processes& processes() const { return processes_; }

  bool idle() const { return counts_.alive == 0; }  // nothing it started is alive

  // Ends every process, by SIGTERM and `grace` first unless that is zero; `done` runs when nothing is alive.
  void End(std::chrono::milliseconds grace, loop::Callback done);

  // For ManagedProcess.
  void Notify(std::string message);
  void NotifyLifecycle(const std::function<std::string()>& message);
  bool WantsOutput() const { return attachment_ == nullptr || !attachment_->transport().congested(); }
  void OnFailed(ManagedProcess& process);
  void OnExited(ManagedProcess& process);
  void OnClosed(ManagedProcess& process);
  void OnGone(ManagedProcess& process);

 private:
  Result<> CheckRoom(const std::string& process_id) const;
  void ResumeOutput();
  void Count(size_t ProcessCounts::* which, int change);
  void Forget(const std::string& process_id, const ManagedProcess* process);
  void AnswerEndWhenGone();

  Runtime& runtime_;
  std::string id_;
  std::shared_ptr<Attachment> attachment_;
  Processes processes_;
  // Forgotten by name, but with a descendant that is still alive.
  std::vector<std::shared_ptr<ManagedProcess>> lingering_;
  ProcessCounts counts_;
  bool ending_ = false, helpers_gone_ = false;
  std::vector<loop::Callback> when_ended_;
  std::shared_ptr<Session*> self_;  // what a posted callback holds weakly
};

}  // namespace holdfast::exec_server
