// The processes of one session, under the names that its clients gave them, and the observers that watch them. The
// processes go on while no client is connected. When the session has ended, nothing that it started is alive.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/managed_process.h"
#include "exec_server/processes/observer.h"
#include "exec_server/processes/process_resources.h"
#include "exec_server/processes/start_command.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/permit.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::exec_server {

class SessionProcesses final : private ManagedProcess::Owner, public std::enable_shared_from_this<SessionProcesses> {
 public:
  using ByName = std::map<std::string, std::shared_ptr<ManagedProcess>, std::less<>>;

  // How long a finished process can be read.
  enum class Finished { kExpire, kStayUntilTheEnd };

  // `link` belongs to the session, which changes it when its driver connects, disconnects or is replaced.
  SessionProcesses(ProcessResources& resources, const ClientLink& link, std::string session_id, Finished finished);
  ~SessionProcesses() override;
  SessionProcesses(const SessionProcesses&) = delete;
  SessionProcesses& operator=(const SessionProcesses&) = delete;

  // Starts a process, and answers through `reply` when the command has been executed or could not be.
  void Start(std::string process_id, const StartRequest& request, ManagedProcess::StartReply reply);
  // Does the same when `making` has made the request. The id is taken meanwhile.
  void StartLater(std::string process_id, loop::Task<Result<StartRequest>> making, ManagedProcess::StartReply reply);
  std::shared_ptr<ManagedProcess> Find(std::string_view process_id) const;
  // Waits until a start under way with this name has succeeded or failed, and then returns the process; null if there
  // is none.
  loop::Task<std::shared_ptr<ManagedProcess>> FindSettled(std::string process_id);
  // Waits until the request of a start under way with this name has been made.
  loop::Task<> AwaitRequest(std::string process_id);
  const ByName& by_name() const { return by_name_; }
  // Returns about how many bytes of JSON describe the processes, or the first `most` of them.
  size_t DescribedBytes(size_t most) const;

  // The session has another driver, or none. Questions that wait for an answer are asked again.
  void OnDriverChanged();

  // Runs the task of a request that changes something. The task goes on after its connection has ended.
  void StartChange(loop::Task<> request) { changes_.Start(std::move(request)); }

  // Tells a client what happens to the processes from now on. The observer lives until StopObserving is called with it.
  Observer& Observe(const ClientLink& link);
  void StopObserving(const Observer& observer);

  // Drops the writes of a connection that wait, because it has ended.
  void DropWrites(process::StdinQueue::Sender sender);
  // Goes on reading output, after the reading has stopped because the driver did not read its messages.
  void ResumeOutput();

  bool idle() const { return counts_.alive == 0; }  // no process that was started is alive
  // Ends every process. Processes get SIGTERM and `grace` before they are killed, unless `grace` is zero. `done` runs
  // when nothing is alive.
  void End(wire::EndCause cause, std::chrono::milliseconds grace, loop::Callback done);

 private:
  void OnFailed(ManagedProcess& process, const Error& error) override;
  void OnExited(ManagedProcess& process) override;
  void OnClosed(ManagedProcess& process) override;
  void OnGone(ManagedProcess& process) override;
  void OnNews(const ManagedProcess& process) override;

  loop::Task<> StartWhenMade(std::string process_id, loop::Task<Result<StartRequest>> making,
                             ManagedProcess::StartReply reply);
  Result<> CheckRoom(const std::string& process_id) const;
  void Count(size_t ProcessCounts::* which, int change);
  void Forget(const std::string& process_id, const ManagedProcess* process);
  void TellForgotten(const ManagedProcess& process);
  void CloseGivenUp();
  void AnswerEndWhenGone();

  ProcessResources& resources_;
  const ClientLink& link_;
  const std::string session_id_;
  const Finished finished_;
  loop::Event driver_changed_;                     // used by the processes, so it outlives them
  std::set<std::string, std::less<>> being_made_;  // the ids of processes whose requests are being made
  loop::Event request_made_;
  ByName by_name_;
  std::map<std::string, loop::Permit, std::less<>> staying_;  // of finished processes that stay until the end
  // Processes whose name is free again, but which still have a keeper or a descendant that is alive.
  std::vector<std::shared_ptr<ManagedProcess>> lingering_;
  ProcessCounts counts_;
  bool ending_ = false;
  std::vector<loop::Callback> when_ended_;
  std::list<Observer> observers_;
  loop::Scope changes_;
};

}  // namespace holdfast::exec_server
