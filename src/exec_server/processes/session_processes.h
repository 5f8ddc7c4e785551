// The processes of one session, under the names its client gave them. They live on while the client is away; when the
// session ends, nothing it started stays alive.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/managed_process.h"
#include "exec_server/processes/process_resources.h"
#include "exec_server/processes/start_command.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::exec_server {

class SessionProcesses final : private ManagedProcess::Owner, public std::enable_shared_from_this<SessionProcesses> {
 public:
  using ByName = std::map<std::string, std::shared_ptr<ManagedProcess>, std::less<>>;

  // `link` is the session's, which changes as its client comes and goes.
  SessionProcesses(ProcessResources& resources, const ClientLink& link, std::string session_id);
  ~SessionProcesses() override;
  SessionProcesses(const SessionProcesses&) = delete;
  SessionProcesses& operator=(const SessionProcesses&) = delete;

  // Answers through `reply` when the command has started, or why it has not.
  void Start(std::string process_id, const StartOrder& order, ManagedProcess::StartReply reply);
  std::shared_ptr<ManagedProcess> Find(std::string_view process_id) const;
  // Finds it when a start of that name under way has succeeded or failed. Null when there is none.
  loop::Task<std::shared_ptr<ManagedProcess>> FindSettled(std::string process_id);
  const ByName& by_name() const { return by_name_; }

  // Runs the task of a request that changes something: it goes on when its client has gone.
  void StartChange(loop::Task<> request) { changes_.Start(std::move(request)); }
  // Runs the task of a request that only waits for something to be told: it ends with the connection.
  void StartPoll(loop::Task<> request) { polls_->Start(std::move(request)); }
  bool has_polls() const { return !polls_->empty(); }

  // The client has gone: output is only stored.
  void OnDetached();
  // Output that has waited for the client goes on.
  void ResumeOutput();

  bool idle() const { return counts_.alive == 0; }  // nothing that was started is alive
  // Ends every process, by SIGTERM and `grace` first unless that is zero; `done` runs when nothing is alive.
  void End(std::chrono::milliseconds grace, loop::Callback done);

 private:
  void OnFailed(ManagedProcess& process) override;
  void OnExited(ManagedProcess& process) override;
  void OnClosed(ManagedProcess& process) override;
  void OnGone(ManagedProcess& process) override;

  Result<> CheckRoom(const std::string& process_id) const;
  void Count(size_t ProcessCounts::* which, int change);
  void Forget(const std::string& process_id, const ManagedProcess* process);
  void AnswerEndWhenGone();

  ProcessResources& resources_;
  const ClientLink& link_;
  const std::string session_id_;
  ByName by_name_;
  // Forgotten by name, but with a descendant that is still alive.
  std::vector<std::shared_ptr<ManagedProcess>> lingering_;
  ProcessCounts counts_;
  bool ending_ = false;
  std::vector<loop::Callback> when_ended_;
  loop::Scope changes_;
  std::optional<loop::Scope> polls_{std::in_place};  // of the connection at the moment
};

}  // namespace holdfast::exec_server
